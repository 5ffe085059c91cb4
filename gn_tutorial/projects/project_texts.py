"""Makes pieces of C++ and Python from an operator's definition, and fills the templates of a new project with them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from gn_tutorial.errors import RegistryError
from gn_tutorial.projects.aclnn import AclnnArgument, camel_name, functions
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.dtype_columns import dtype_name
from gn_tutorial.projects.parameters import OpAttribute, Parameter

_TEMPLATES = Path(__file__).with_name("templates")
_BUILDERS = {
    "int": "Int", "float": "Float", "bool": "Bool", "string": "String",
    "list_int": "ListInt", "list_float": "ListFloat", "list_bool": "ListBool", "list_list_int": "ListListInt",
}  # fmt: skip
_READERS = {
    "int": "GetInt", "float": "GetFloat", "bool": "GetBool", "string": "GetStr",
    "list_int": "GetListInt", "list_float": "GetListFloat", "list_bool": "GetListBool",
    "list_list_int": "GetListListInt",
}  # fmt: skip
_LIST_ITEMS = {"list_int": "int64_t", "list_float": "float", "list_bool": "char"}
#: A type of attribute -> the value that a case or an example gives to a required attribute.
_PLACEHOLDERS: Mapping[str, Any] = {"int": 1, "float": 1.0, "bool": False, "string": ""}
_COLUMNS = 120


class _Text(Template):
    """A template whose placeholders are written ``@{name}``, so that ``$`` in CMake and shell stays as it is."""

    delimiter = "@"


def render(template: str, names: Mapping[str, str]) -> str:
    """Return the template, filled. A line with only a placeholder is removed if the placeholder's text is empty."""
    text = (_TEMPLATES / f"{template}.in").read_text(encoding="utf-8")
    empty = [name for name, value in names.items() if not value]
    for name in empty:
        text = re.sub(rf"^[ \t]*@\{{{name}\}}\n", "", text, flags=re.MULTILINE)
    return _Text(text).substitute(names)


def definition(op: OpDefinition, *, unknown_shapes: bool) -> str:
    """Return the statements of the OpDef. unknown_shapes: add the formats that CANN 8 requires for dynamic shapes."""
    lines = []
    for role, params in (("Input", op.inputs), ("Output", op.outputs)):
        for one in params:
            lines.append(f'this->{role}("{one.name}")')
            lines.append(f"    .ParamType({one.kind.upper()})")
            lines.append(f"    .DataType({{{', '.join(f'ge::{label}' for label in one.dtypes)}}})")
            formats = ", ".join(f"ge::{label}" for label in one.formats)
            lines.append(f"    .Format({{{formats}}})" + ("" if unknown_shapes else ";"))
            if unknown_shapes:
                lines.append(f"    .UnknownShapeFormat({{{formats}}});")
    for one in op.attributes:
        kind = "REQUIRED" if one.required else "OPTIONAL"
        lines.append(f'this->Attr("{one.name}").AttrType({kind}).{_BUILDERS[one.type]}({_literal(one)});')
    return "\n".join(f"    {line}" for line in lines)


def call_hint(op: OpDefinition) -> str:
    """Return comments for a tiling function: how to read attributes, and the first input's type if it varies."""
    several = bool(op.inputs) and len(set(op.inputs[0].dtypes)) > 1
    lines = [f"  // context->GetInputDesc(0)->GetDataType(), such as ge::{op.inputs[0].dtypes[0]}"] if several else []
    for index, one in enumerate(op.attributes):
        lines.append(f"  // context->GetAttrs()->{_READERS[one.type]}({index}): a pointer to {one.name}")
    return "\n".join(lines)


def infer_shape(op: OpDefinition) -> str:
    """Return the body of InferShape. Each output gets the first input's shape. Without inputs the body fails."""
    if not op.inputs:
        return (
            "  // YOUR TURN: the shape of each output, by its attributes.\n  (void)context;\n  return ge::GRAPH_FAILED;"
        )
    lines = [f"  // YOUR TURN: right where every output has the shape of {op.inputs[0].name}; otherwise set each axis."]
    for index, _ in enumerate(op.outputs):
        lines.append(f"  *context->GetOutputShape({index}) = *context->GetInputShape(0);")
    return "\n".join([*lines, "  return ge::GRAPH_SUCCESS;"])


def infer_dtype(op: OpDefinition) -> str:
    """Return the body of InferDataType. The body fails if the dtype of an output is not known.

    A dtype is known if the output has only one, or if an input that is not optional has the same dtype in each column.
    """
    lines = []
    for index, output in enumerate(op.outputs):
        same = next((at for at, one in enumerate(op.inputs) if one.dtypes == output.dtypes and not one.optional), None)
        if len(set(output.dtypes)) == 1:
            lines.append(f"  context->SetOutputDataType({index}, ge::{output.dtypes[0]});")
        elif same is not None:
            lines.append(f"  context->SetOutputDataType({index}, context->GetInputDataType({same}));")
        else:
            lines.append(f"  // YOUR TURN: the type of output {index}, {output.name}.\n  return ge::GRAPH_FAILED;")
            return "\n".join(["  (void)context;", *lines])
    return "\n".join([*lines, "  return ge::GRAPH_SUCCESS;"])


def wrapped(before: str, items: Sequence[str], after: str) -> str:
    """Return ``before``, the items with commas, and ``after``, in lines of 120 columns, laid out as by clang-format."""
    lines, indent = [before], " " * len(before)
    for index, item in enumerate(items):
        word = item + ("," if index + 1 < len(items) else after)
        spaced = lines[-1] + ("" if lines[-1] in (before, indent) else " ") + word
        if len(spaced) <= _COLUMNS:
            lines[-1] = spaced
        else:
            lines.append(indent + word)
    return "\n".join(lines)


def kernel_parameters(op: OpDefinition) -> list[str]:
    """Return the kernel's parameters except workspace and tiling: inputs, outputs. An output in place is ``x_ref``."""
    outputs = [f"{one.name}_ref" if one.name in op.in_place else one.name for one in op.outputs]
    return [one.name for one in op.inputs] + outputs


def test_texts(op: OpDefinition) -> dict[str, str]:
    """Return this operator's parts of main.cpp.

    Raises RegistryError if the operator can have no aclnn function, or if an input is no tensor in the first call.
    """
    first, second = functions(op)[0], functions(op)[-1]
    found = [_test_argument(op, one) for one in first.arguments if one.role in ("input", "attribute", "output")]
    return {
        "aclnn_header": first.header,
        "second_call": second.name,
        "declarations": "\n".join(line for one in found for line in one[0]),
        "first_call": wrapped(
            f"  REQUIRE_SUCCESS({first.name}(", [*(one[1] for one in found), "&size", "&executor"], "));"
        ),
        "writes": "\n".join(line for one in found for line in one[2]),
        "releases": "\n".join(line for one in found for line in one[3]),
    }


def case_texts(op: OpDefinition, shape: str = "(8, 2048)") -> dict[str, str]:
    """Return the inputs, outputs and attributes of gen_data.py's first case, as Python text.

    Optional inputs and outputs are left out. All arrays have ``shape``, and the dtypes of the first column.
    """

    def arrays(params: tuple[Parameter, ...]) -> str:
        names = [
            (f"{one.name}0" if one.kind == "dynamic" else one.name, one) for one in params if one.kind != "optional"
        ]
        return ", ".join(f'"{name}": ("{dtype_name(one.dtypes[0])}", {shape})' for name, one in names)

    values = {
        one.name: one.default if one.default is not None else _PLACEHOLDERS.get(one.type, [1]) for one in op.attributes
    }
    attributes = ", ".join(f'"{name}": {_python(value)}' for name, value in values.items())
    return {"inputs": arrays(op.inputs), "outputs": arrays(op.outputs), "attributes": attributes}


def example_arguments(op: OpDefinition) -> str:
    """Return options of ``gnt project run`` that fit the definition."""
    words = [f'--in "{dtype_name(one.dtypes[0])}[8,2048]"' for one in op.inputs if one.kind != "optional"]
    words += [f"--attr {one.name}={_PLACEHOLDERS.get(one.type, '...')}" for one in op.attributes if one.required]
    return " ".join(words)


def _literal(one: OpAttribute) -> str:
    if one.default is None:
        return ""
    if one.type == "float":
        return _float(one.default)
    return _cpp(one.default, "float" in one.type)


def _cpp(value: Any, floats: bool) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(_cpp(one, floats) for one in value) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return _float(value) if floats else str(value)


def _float(value: Any) -> str:
    text = repr(float(value))
    if text in ("inf", "-inf", "nan"):
        return {"inf": "__builtin_inff()", "-inf": "-__builtin_inff()", "nan": '__builtin_nanf("")'}[text]
    return f"{text}f"


def _python(value: Any) -> str:
    return (
        repr(list(value)) if isinstance(value, tuple) else json.dumps(value) if isinstance(value, str) else repr(value)
    )


def _test_argument(op: OpDefinition, one: AclnnArgument) -> tuple[list[str], str, list[str], list[str]]:
    """Return, for one argument of the first call: declarations, the argument's text, later writes, and releases.

    Raises RegistryError for an input that is no tensor in this call.
    """
    if one.role == "attribute":
        return _test_attribute(op.attributes[one.index], one)
    params = op.inputs if one.role == "input" else op.outputs
    declared, name = params[one.index], _local(one.parameter)
    if one.role == "input" and (declared.scalar or declared.scalar_list or declared.value_depend):
        raise RegistryError(f"{op.type}: '{one.parameter}' is no tensor in the test", where="prototype")
    reads = "true" if one.role == "input" else "false"
    if declared.kind == "dynamic":
        lines = [
            f"  std::vector<std::unique_ptr<Tensor>> {name}Parts;",
            f"  std::vector<const aclTensor*> {name}Tensors;",
            f'  for (size_t i = 0; what.arrays.count("{one.parameter}" + std::to_string(i)) > 0; ++i) {{',
            f'    {name}Parts.emplace_back(new Tensor(what, "{one.parameter}" + std::to_string(i), {reads}));',
            f"    {name}Tensors.push_back({name}Parts.back()->get());",
            "  }",
            f"  aclTensorList* {name} = aclCreateTensorList({name}Tensors.data(), {name}Tensors.size());",
        ]
        writes = [f"  for (const auto& part : {name}Parts) part->Write();"] if one.role == "output" else []
        # The list is never destroyed: aclDestroyTensorList would free its tensors, which ``Tensor`` frees.
        return lines, name, writes, []
    line = f'  const Tensor {name}(what, "{one.parameter}", {reads});'
    written = one.role == "output" or one.in_place
    return [line], f"{name}.get()", [f"  {name}.Write();"] if written else [], []


def _test_attribute(declared: OpAttribute, one: AclnnArgument) -> tuple[list[str], str, list[str], list[str]]:
    name, values = _local(declared.name), f'what.Values("{declared.name}")'
    if declared.type in _LIST_ITEMS:
        item, kind = _LIST_ITEMS[declared.type], _BUILDERS[declared.type].removeprefix("List")
        data = f"{name}Values.data()" if item != "char" else f"reinterpret_cast<const bool*>({name}Values.data())"
        lines = [
            f'  const std::vector<{item}> {name}Values = what.Numbers<{item}>("{declared.name}");',
            f"  const auto* {name}Data = {data};",
            f"  acl{kind}Array* {name} = aclCreate{kind}Array({name}Data, {name}Values.size());",
        ]
        return lines, name, [], [f"  aclDestroy{kind}Array({name});"]
    if declared.type == "string":
        lines = [
            f"  std::string {name}Text = {values}.empty() ? std::string() : {values}.front();",
        ]
        return lines, f"{name}Text.data()", [], []
    number = {"int": "std::stoll", "float": "std::stod", "bool": "0 != std::stoi"}[declared.type]
    return [f"  const {one.ctype} {name} = {number}({values}.front());"], name, [], []


def _local(name: str) -> str:
    """Return the variable's name for a parameter, with ``_`` at its end if main.cpp's ``Call`` or C++ uses the name."""
    made = camel_name(name)
    return f"{made}_" if made in _TAKEN_IN_CALL else made


_TAKEN_IN_CALL = frozenset("what stream size executor workspace one i int float double bool char long short".split())
