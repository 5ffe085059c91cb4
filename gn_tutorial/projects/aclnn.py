"""Describes and generates the C functions of ``aclnn_<snake name>.h``, which CANN makes from an operator's definition.

The first call takes tensors and attributes. It returns an executor, and how many bytes of workspace the second call
needs. The second call launches.
Sources: docs/zh/api, Utils-API/原型注册与管理 (OpParamDef: ValueDepend, Version, Scalar; OpAttrDef). The names, the
order and the const qualifiers of arguments follow the public tests of CANN's generator (asc-devkit,
tests/tools/utils/opbuild).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gn_tutorial.errors import RegistryError
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.parameters import OpAttribute, Parameter

#: A type of attribute -> its C type. Bools and numbers are passed by value. A Float is passed as a double
#: and cast to float.
ATTRIBUTE_TYPES = {
    "bool": "bool",
    "float": "double",
    "int": "int64_t",
    "string": "char *",
    "list_bool": "const aclBoolArray *",
    "list_float": "const aclFloatArray *",
    "list_int": "const aclIntArray *",
}
_BY_VALUE = frozenset({"bool", "float", "int"})
_INTEGERS = frozenset(f"DT_{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))


@dataclass(frozen=True)
class AclnnArgument:
    """One argument of an aclnn function. ctype: its C type; the name of a pointer type ends with ``*``.

    role: input, attribute or output; workspace_size, executor, workspace or stream for an argument that the framework
    adds. parameter: the argument's name in the definition; empty if the framework adds the argument. index: its
    position among the definition's inputs, attributes or outputs; -1 if the framework adds it. in_place: whether this
    input is an output too. optional: whether a caller may pass a null pointer.
    """

    name: str
    ctype: str
    role: str
    parameter: str = ""
    index: int = -1
    in_place: bool = False
    optional: bool = False

    def __str__(self) -> str:
        return f"{self.ctype}{self.name}" if self.ctype.endswith("*") else f"{self.ctype} {self.name}"


@dataclass(frozen=True)
class AclnnFunction:
    """A C function that returns aclnnStatus. header: the file that declares it.

    first: True for the first call, which returns the workspace's size; False for the second, which launches. version:
    the function has no arguments for inputs and attributes of later versions. Such inputs are absent, such attributes
    have their defaults. tensors: whether an input whose values tiling reads is passed as a tensor, not as an array.
    """

    name: str
    header: str
    first: bool
    version: int
    tensors: bool
    arguments: tuple[AclnnArgument, ...]

    def of_role(self, role: str) -> tuple[AclnnArgument, ...]:
        """Return the arguments with this role, in order."""
        return tuple(one for one in self.arguments if one.role == role)

    def __str__(self) -> str:
        return f"aclnnStatus {self.name}({', '.join(map(str, self.arguments))})"


_SECOND_CALL = (
    AclnnArgument("workspace", "void *", "workspace"),
    AclnnArgument("workspaceSize", "uint64_t", "workspace_size"),
    AclnnArgument("executor", "aclOpExecutor *", "executor"),
    AclnnArgument("stream", "aclrtStream", "stream"),
)
_END_OF_FIRST_CALL = (
    AclnnArgument("workspaceSize", "uint64_t *", "workspace_size"),
    AclnnArgument("executor", "aclOpExecutor **", "executor"),
)


def functions(op: OpDefinition) -> tuple[AclnnFunction, ...]:
    """Return all functions of an operator: for each version a first call and a second call.

    If an input has ValueDepend, each version has two first calls. One takes the values of this input as an array, the
    other takes the input as a tensor.

    Raises RegistryError for a definition that CANN's generator refuses.
    """
    found = []
    for version in range(_versions(op) + 1):
        suffix = f"V{version}" if version else ""
        name = f"aclnn{op.type}{suffix}"
        header = f"aclnn_{op.snake_name}{suffix and '_' + suffix.lower()}.h"
        forms = (False, True) if _reads_values(op) else (False,)
        for tensors in forms:
            arguments = (*_arguments(op, version, tensors), *_END_OF_FIRST_CALL)
            kind = "Tensor" if tensors else ""
            found.append(AclnnFunction(f"{name}{kind}GetWorkspaceSize", header, True, version, tensors, arguments))
        found.append(AclnnFunction(name, header, False, version, False, _SECOND_CALL))
    return tuple(found)


def headers(op: OpDefinition) -> dict[str, str]:
    """Return the headers that a caller of this operator may include: file name -> text.

    Raises RegistryError as ``functions`` does.
    """
    declared: dict[str, list[AclnnFunction]] = {}
    for one in functions(op):
        declared.setdefault(one.header, []).append(one)
    return {name: _header(name, op, some) for name, some in declared.items()}


def camel_name(name: str) -> str:
    """Return a parameter's name in C: ``num_groups`` -> ``numGroups``, ``X`` -> ``x``."""
    first, *rest = name.split("_")
    return first[:1].lower() + first[1:] + "".join(word[:1].upper() + word[1:] for word in rest)


def _versions(op: OpDefinition) -> int:
    return max((one.version for one in (*op.inputs, *op.attributes)), default=0)


def _reads_values(op: OpDefinition) -> bool:
    return any(one.value_depend for one in op.inputs)


def _arguments(op: OpDefinition, version: int, tensors: bool) -> Iterator[AclnnArgument]:
    changeable = any(one.shape_depends_on_compute for one in op.outputs)
    for index, one in enumerate(op.inputs):
        if one.version <= version:
            name = _input_name(op, one)
            in_place = one.name in op.in_place
            ctype = _array_type(op, one) if one.value_depend and not tensors else _tensor_type(one, name, changeable)
            yield AclnnArgument(name, ctype, "input", one.name, index, in_place, one.optional)
    for index, attribute in enumerate(op.attributes):
        if attribute.version <= version:
            yield _attribute(op, attribute, index)
    for index, one in enumerate(op.outputs):
        if one.name not in op.in_place:
            name = "out" if len(op.outputs) == 1 else f"{camel_name(one.name)}Out"
            name += "Optional" if one.optional else ""
            ctype = _tensor_type(one, name, changeable)
            yield AclnnArgument(name, ctype, "output", one.name, index, False, one.optional)


def _input_name(op: OpDefinition, one: Parameter) -> str:
    in_place = "Ref" if one.name in op.in_place else ""
    return camel_name(one.name) + in_place + ("Optional" if one.optional else "")


def _tensor_type(one: Parameter, name: str, changeable: bool) -> str:
    """Return the C type of an input or output.

    changeable: whether the shape of some output is known only after the kernel ran. CANN's generator then declares
    every aclTensor without const.
    """
    if one.scalar:
        return "const aclScalar *"
    if one.scalar_list:
        return "const aclScalarList *"
    written = name.endswith("Ref")  # The name decides: an optional input in place, xRefOptional, stays const.
    if one.kind == "dynamic":
        return "aclTensorList *" if written else "const aclTensorList *"
    return "aclTensor *" if written or changeable else "const aclTensor *"


def _array_type(op: OpDefinition, one: Parameter) -> str:
    if one.scalar or one.scalar_list:
        raise _refused(op, f"input '{one.name}' has ValueDepend and Scalar", "keep one of them")
    types = set(one.dtypes or one.every_dtype)
    if types == {"DT_FLOAT"}:
        return "const aclFloatArray *"
    if types == {"DT_BOOL"}:
        return "const aclBoolArray *"
    if types and types <= _INTEGERS:
        if "DT_INT64" in types:
            return "const aclIntArray *"
        hint = "add a column with DT_INT64: the caller's array has int64 numbers"
        raise _refused(op, f"input '{one.name}' has ValueDepend and no column of DT_INT64", hint)
    listed = ", ".join(sorted(types)) or "no type"
    hint = "its types must all be DT_FLOAT, or all DT_BOOL, or all integers"
    raise _refused(op, f"input '{one.name}' has ValueDepend and {listed}", hint)


def _attribute(op: OpDefinition, one: OpAttribute, index: int) -> AclnnArgument:
    if one.type not in ATTRIBUTE_TYPES:
        listed = "Int, Float, Bool, String, ListInt, ListFloat and ListBool"
        raise _refused(op, f"attribute '{one.name}' is {one.type or 'of no type'}", f"an aclnn function takes {listed}")
    # Bools and numbers are passed by value, and no value stands for "left out". So a caller must pass each of them.
    optional = not one.required and one.type not in _BY_VALUE
    name = camel_name(one.name) + ("Optional" if optional else "")
    return AclnnArgument(name, ATTRIBUTE_TYPES[one.type], "attribute", one.name, index, False, optional)


def _refused(op: OpDefinition, what: str, hint: str) -> RegistryError:
    return RegistryError(f"{op.type} can have no aclnn function: {what}", where=", ".join(op.defined_at), hint=hint)


def _header(name: str, op: OpDefinition, some: list[AclnnFunction]) -> str:
    guard = name.upper().replace(".", "_") + "_"
    lines = [
        f"// How a program calls {op.type}. Made from its definition; a change here is lost.",
        f"#ifndef {guard}",
        f"#define {guard}",
        '#include "aclnn/acl_meta.h"',
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
    ]
    for one in some:
        lines += ["", f'__attribute__((visibility("default"))) aclnnStatus {one.name}(']
        lines += [f"    {argument}," for argument in one.arguments[:-1]] + [f"    {one.arguments[-1]});"]
    lines += ["", "#ifdef __cplusplus", "}", "#endif", f"#endif  // {guard}", ""]
    return "\n".join(lines)


def call_source(op: OpDefinition) -> str:
    """Return the translation unit that defines one operator's aclnn functions.

    Raises RegistryError as ``functions`` does.
    """
    lines = [
        f"// The calls of {op.type} on the twin. Made from its definition.",
        '#include "gn_twin/host/aclnn_call.h"',
    ]
    for one in functions(op):
        lines += ["", f'extern "C" {one} {{', *_body(op, one), "}"]
    return "\n".join([*lines, ""])


def _body(op: OpDefinition, one: AclnnFunction) -> list[str]:
    if not one.first:
        names = ", ".join(argument.name for argument in one.arguments)
        return [f'  return gn_twin::host::SecondCall("{one.name}", {names});']
    lines = [f'  gn_twin::host::FirstCall gntCall("{one.name}");']
    for argument in one.arguments[:-2]:
        read = argument.role == "input" and op.reads_values(argument.index) and "Array" not in argument.ctype
        lines.append(f'  gntCall.Add("{argument.name}", {argument.name}{", true" if read else ""});')
    workspace, executor = one.arguments[-2:]
    return [*lines, f"  return gntCall.Ask({workspace.name}, {executor.name});"]
