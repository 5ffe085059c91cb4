"""Reads and checks prototypes of operators (算子原型) in the JSON form of CANN's project generator (msopgen).

Source: msopgen's page on its prototype file. The keys are ``op``, ``language``, ``input_desc``, ``output_desc`` and
``attr``. A single format stands for every type, and a single type for every format. The result is the same definition
that an OpDef gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gn_tutorial.abi.dtypes import DTYPES
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.projects.definition import OpDefinition, snake_name
from gn_tutorial.projects.parameters import Chip, OpAttribute, Parameter

#: A type in a prototype -> the type's name in the graph engine. msopgen's page lists integers, bool, and short and long
#: names of floats.
TYPES = {one.name: one.label for one in DTYPES.values() if one.label} | {
    "fp16": "DT_FLOAT16", "half": "DT_FLOAT16", "bf16": "DT_BF16", "float": "DT_FLOAT", "fp32": "DT_FLOAT",
}  # fmt: skip
FORMATS = tuple(
    """ND NCHW NHWC HWCN CHWN NCDHW NDHWC DHWCN NCL NC1HWC0 NDC1HWC0 FRACTAL_Z FRACTAL_Z_3D FRACTAL_NZ""".split()
)
KINDS = ("required", "optional", "dynamic")
#: A type of attribute -> the Python types of its value, or of the items of a list.
ATTRIBUTES: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (float, int), "bool": (bool,), "string": (str,),
    "list_int": (int,), "list_float": (float, int), "list_bool": (bool,), "list_list_int": (int,),
}  # fmt: skip
_KEYS = frozenset({"op", "language", "input_desc", "output_desc", "attr"})
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
#: Names that a kernel or its parameters cannot have: words of C++, half, and the last two parameters of every kernel.
_TAKEN = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr
    const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern
    false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
    operator or or_eq private protected public register reinterpret_cast return short signed sizeof static
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid
    typename union unsigned using virtual void volatile wchar_t while xor xor_eq half workspace tiling""".split()
)


def read_prototypes(
    given: Path | str | Mapping[str, Any] | Sequence[Mapping[str, Any]], config: str
) -> tuple[OpDefinition, ...]:
    """Return the definitions in a prototype, a file or its contents, for the chip ``config`` (``ascend910b``).

    Raises ArgumentError for a file that cannot be read. Raises RegistryError for a text that is no JSON (with the
    line); a field that is missing, unknown or wrong; an unknown type or format; a name that is used twice or that a
    kernel cannot have; parameters with different numbers of types.
    """
    where, document = "prototype", given
    if isinstance(given, (str, Path)):
        where, document = str(given), _load(Path(given))
    listed = [document] if isinstance(document, Mapping) else document
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise _refused("a prototype is one operator, or a list of them", where, '[{"op": "AddCustom", ...}]')
    found = tuple(_operator(one, f"{where}: operator {index}", config) for index, one in enumerate(listed))
    for names, what in (
        ([one.type for one in found], "named"),
        ([one.snake_name for one in found], "with files named"),
    ):
        if twice := _repeated(names):
            raise _refused(f"two operators {what} '{twice}'", where, "a project has one of each name")
    return found


def _load(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise ArgumentError(
            f"cannot read the prototype: {said}", where=str(path), hint="gnt dev prototype group_norm > prototype.json"
        ) from error
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = (text.splitlines() or [""])[error.lineno - 1] if error.lineno <= len(text.splitlines()) else ""
        raise RegistryError(
            f"the prototype is no JSON: {error.msg}", where=f"{path}:{error.lineno}", hint=line.strip()
        ) from error


def _operator(given: Any, where: str, config: str) -> OpDefinition:
    if not isinstance(given, Mapping):
        raise _refused(f"{given!r} is no operator", where, 'an object: {"op": "AddCustom", ...}')
    _check_keys(given, _KEYS, where)
    name = _name(given, "op", where)
    if not name[0].isupper():
        raise _refused(f"the operator is named '{name}'", where, f"a type begins with a capital: {_camel(name)}")
    where = f"{where} ({name})"
    language = given.get("language", "cpp")
    if language != "cpp":
        raise _refused(f"its language is {language!r}", where, '"language": "cpp", for an operator in Ascend C')
    inputs = _parameters(given.get("input_desc", []), "input_desc", where)
    outputs = _parameters(given.get("output_desc", []), "output_desc", where)
    if not outputs:
        raise _refused("it has no output", where, '"output_desc": [{"name": "y", ...}]')
    attributes = tuple(_attribute(one, where) for one in _list(given.get("attr", []), "attr", where))
    _check_names(inputs, outputs, attributes, snake_name(name), where)
    made = OpDefinition(
        type=name, inputs=inputs, outputs=outputs, attributes=attributes, chips=(Chip(config, {}, inputs, outputs),)
    )
    columns = [(one.name, len(one.dtypes)) for one in (*inputs, *outputs)]
    if len({many for _, many in columns}) > 1:
        said = ", ".join(f"{name} {many}" for name, many in columns)
        raise _refused(f"its parameters have different numbers of types: {said}", where, "types go together by index")
    return made


def _parameters(given: Any, key: str, where: str) -> tuple[Parameter, ...]:
    return tuple(_parameter(one, f"{where}, {key}") for one in _list(given, key, where))


def _parameter(given: Any, where: str) -> Parameter:
    if not isinstance(given, Mapping):
        raise _refused(f"{given!r} is no parameter", where, '{"name": "x", "format": ["ND"], "type": ["float"]}')
    _check_keys(given, {"name", "param_type", "format", "type"}, where)
    name = _name(given, "name", where)
    where = f"{where}, {name}"
    types = [_one_of(one, TYPES, "type", where) for one in _strings(given, "type", where)]
    formats = [_one_of(one, FORMATS, "format", where) for one in _strings(given, "format", where)]
    columns = max(len(types), len(formats))
    if {len(types), len(formats)} - {1, columns}:
        said = f"{len(types)} types and {len(formats)} formats"
        raise _refused(said, where, "they go together by index: as many of each, or one for all")
    return Parameter(
        name=name,
        kind=_one_of(given.get("param_type", "required"), KINDS, "param_type", where),
        dtypes=tuple(TYPES[one] for one in (types * columns)[:columns]),
        formats=tuple(f"FORMAT_{one}" for one in (formats * columns)[:columns]),
    )


def _attribute(given: Any, where: str) -> OpAttribute:
    where = f"{where}, attr"
    if not isinstance(given, Mapping):
        raise _refused(
            f"{given!r} is no attribute", where, '{"name": "eps", "param_type": "optional", "type": "float"}'
        )
    _check_keys(given, {"name", "param_type", "type", "default_value"}, where)
    name = _name(given, "name", where)
    where = f"{where}, {name}"
    kind = _one_of(given.get("param_type", "required"), ("required", "optional"), "param_type", where)
    attribute_type = _one_of(given.get("type"), ATTRIBUTES, "type", where)
    default = given.get("default_value")
    if default is not None:
        default = _value(default, attribute_type, where)
    elif kind == "optional":
        raise _refused("an optional attribute has no default_value", where, "add one: callers may leave it out")
    return OpAttribute(name=name, type=attribute_type, required=kind == "required", default=default)


def _value(given: Any, kind: str, where: str) -> Any:
    """Return a default value in the form of a definition, with a tuple for a list.

    A string may hold the value as JSON, because msopgen's own files write some values in this way.
    """
    depth = kind.count("list_")
    if isinstance(given, str) and kind != "string":
        try:
            given = json.loads(given)
        except json.JSONDecodeError:
            raise _refused(f"default_value is {given!r}", where, f"its type is {kind}") from None

    def convert(value: Any, level: int) -> Any:
        if level:
            if not isinstance(value, list):
                raise _refused(f"default_value is {given!r}", where, f"a {kind} is a list")
            return tuple(convert(one, level - 1) for one in value)
        if not isinstance(value, ATTRIBUTES[kind]) or (isinstance(value, bool) and "bool" not in kind):
            raise _refused(f"default_value is {given!r}", where, f"its type is {kind}")
        return float(value) if "float" in kind else value

    return convert(given, depth)


def _check_names(
    inputs: Iterable[Parameter], outputs: Iterable[Parameter], attributes: Iterable[OpAttribute], entry: str, where: str
) -> None:
    # An input and an output may have the same name: they share memory (in place). No other two names may be equal.
    for names in (
        [one.name for one in (*inputs, *attributes)],
        [one.name for one in (*outputs, *attributes)],
    ):
        if twice := _repeated(names):
            raise _refused(f"two parameters are named '{twice}'", where, "give each a name of its own")
    for name in (entry, *(one.name for one in (*inputs, *outputs))):
        if name in _TAKEN or name == "":
            raise _refused(f"'{name}' cannot be a name in the kernel", where, "it is a word of C++, or of every kernel")
    if entry in {one.name for one in (*inputs, *outputs)}:
        raise _refused(f"'{entry}' is the kernel and one of its parameters", where, "name one of them otherwise")


def _check_keys(given: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    for key in given:
        if key not in known:
            raise _refused(f"there is no field '{key}'", where, f"one of {', '.join(sorted(known))}")


def _name(given: Mapping[str, Any], key: str, where: str) -> str:
    name = given.get(key)
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
        said = f"'{key}' is missing" if name is None else f"'{key}' is {name!r}"
        raise _refused(said, where, "a name has letters, digits and _ only")
    return name


def _strings(given: Mapping[str, Any], key: str, where: str) -> list[str]:
    value = given.get(key, ["ND"] if key == "format" else None)
    if not isinstance(value, list) or not value:
        raise _refused(f"'{key}' is {value!r}", where, f'a list, one entry a column: "{key}": [...]')
    return value


def _list(given: Any, key: str, where: str) -> list[Any]:
    if not isinstance(given, list):
        raise _refused(f"'{key}' is {given!r}", where, "a list of objects")
    return given


def _one_of(value: Any, known: Iterable[str], key: str, where: str) -> str:
    if value not in list(known):
        raise _refused(f"the {key} is {value!r}", where, f"one of {', '.join(known)}")
    return value


def _repeated(names: Sequence[str]) -> str:
    return next((name for index, name in enumerate(names) if name in names[:index]), "")


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _refused(what: str, where: str, hint: str) -> RegistryError:
    return RegistryError(what, where=where, hint=hint)
