"""The registry: every operator and kernel of the course, read from ``kernels/<op>/op.toml``.

A folder may hold further operators whose kernels share its headers, each in a ``<name>.op.toml`` of its own:
``kernels/group_norm/group_norm_silu.op.toml``. With ``extends = "op.toml"`` such a file takes every key that it does
not have itself from that one.

A learner's own operator is such a folder anywhere (``gnt new``), called by its path; its reference may be a function of
a file in it, ``reference = "reference.py:my_softmax"``.

A kernel is registered once. Tables, tests, the command line and the tour all derive from what this module returns, so
a new file that is not in an ``op.toml`` does not exist for them, and a mistake in one is refused here, with its file
and key.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gn_tutorial.abi.dtypes import NARROW_DTYPES
from gn_tutorial.errors import RegistryError
from gn_tutorial.operators.spec import (
    ATTRIBUTE_TYPES,
    DATA_DTYPE,
    DIRECTIONS,
    ROLES,
    Argument,
    Attribute,
    KernelSpec,
    OpSpec,
    Part,
    TilingSpec,
    Tolerance,
)
from gn_tutorial.toml_file import course_folder, read_toml

_FILE = "op.toml"


def kernels_root() -> Path:
    """The folder of the kernels: inside an installed package, or at the top of the repository.

    Raises RegistryError if neither exists.
    """
    return course_folder("kernels", "*/op.toml")


def load_registry(root: Path | None = None) -> dict[str, OpSpec]:
    """Read every ``<root>/<op>/op.toml`` and ``<name>.op.toml``; ``root`` is ``kernels_root()`` unless told.

    Returns operator name -> OpSpec, in the course's order. Raises RegistryError naming the file and the key at fault.
    """
    folder = kernels_root() if root is None else Path(root)
    paths = [*folder.glob("*/op.toml"), *folder.glob("*/*.op.toml")]
    ops = sorted((_read_op(path) for path in paths), key=lambda op: (op.order, op.name))
    return {op.name: op for op in ops}


def all_kernels(registry: dict[str, OpSpec]) -> list[tuple[OpSpec, KernelSpec]]:
    """Every registered kernel with its operator, in the course's order."""
    return [(op, kernel) for op in registry.values() for kernel in op.kernels]


def find_operator(name: str | Path) -> OpSpec:
    """The operator of that name, or of that folder. Raises RegistryError that lists the names."""
    registry = load_registry()
    if str(name) in registry:
        return registry[str(name)]
    if is_operator(name):
        return _read_op(Path(name).resolve() / _FILE)
    hint = f"one of {', '.join(registry)}, or a folder with an {_FILE}"
    raise RegistryError(f"no operator is registered as '{name}'", hint=hint)


def is_operator(folder: str | Path) -> bool:
    """Whether this is the folder of an operator."""
    return (Path(folder) / _FILE).is_file()


def find_kernel(name: str, registry: dict[str, OpSpec] | None = None) -> tuple[OpSpec, KernelSpec]:
    """Look up ``"group_norm/scalar"``, or ``"copy"`` for an operator that has one kernel; or such a folder's path.

    Raises RegistryError that suggests the closest names.
    """
    pairs = all_kernels(load_registry() if registry is None else registry)
    found = [(op, kernel) for op, kernel in pairs if name in (kernel.id, op.name)] or _own(Path(name))
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(kernel.id for _, kernel in found)
        raise RegistryError(f"operator '{name}' has several kernels", hint=f"choose one of {ids}")
    names = [kernel.id for _, kernel in pairs]
    short = [kernel.id.partition("/")[2] for _, kernel in pairs]
    matches = difflib.get_close_matches(name, [*names, *dict.fromkeys(short)], n=3)
    near = [one for match in matches for one in names if match in (one, one.partition("/")[2])]
    hint = f"did you mean {' or '.join(dict.fromkeys(near))}?" if near else f"registered: {', '.join(names)}"
    raise RegistryError(f"no kernel is registered as '{name}'", hint=hint)


def _own(path: Path) -> list[tuple[OpSpec, KernelSpec]]:
    """The kernels of a folder, or that of an id behind the folder: ``my_softmax``, ``my_softmax/first``."""
    for folder, short in ((path, ""), (path.parent, path.name)):
        if is_operator(folder):
            op = find_operator(folder)
            return [(op, kernel) for kernel in op.kernels if short in ("", kernel.id.partition("/")[2])]
    return []


class _Table:
    """A TOML table that knows where it stands, checks types, and refuses keys that nobody asked for."""

    def __init__(self, content: Any, where: str) -> None:
        if not isinstance(content, dict):
            raise RegistryError(f"a table is expected, not {content!r}", where=where)
        self.content, self.where, self.known = content, where, set[str]()

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        self.known.add(key)
        if key not in self.content:
            if default is ...:
                raise RegistryError(f"'{key}' is missing", where=self.where)
            return default
        value = self.content[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise RegistryError(f"'{key}' has a value of the wrong type: {value!r}", where=self.where)
        return value

    def choice(self, key: str, choices: Iterable[str], default: Any = ...) -> str:
        value = self.take(key, str, default)
        if value not in choices:
            raise RegistryError(f"'{key}' is {value!r}", where=self.where, hint=f"one of {', '.join(choices)}")
        return value

    def finish(self) -> None:
        for key in sorted(self.content.keys() - self.known):
            near = difflib.get_close_matches(key, self.known, n=1)
            raise RegistryError(
                f"'{key}' is not a key of this table",
                where=self.where,
                hint=f"did you mean '{near[0]}'?" if near else f"keys: {', '.join(sorted(self.known))}",
            )


def _read_content(path: Path) -> dict[str, Any]:
    """The keys of a registry file, and those that it lacks and the file that it extends has."""
    content = read_toml(path, "the registry file")
    base = content.pop("extends", None)
    if base is None:
        return content
    if base != _FILE or path.name == _FILE:
        raise RegistryError(f"'extends' is {base!r}", where=str(path), hint=f"a <name>.op.toml may extend {_FILE!r}")
    return {**_read_content(path.with_name(_FILE)), **content}


def _read_op(path: Path) -> OpSpec:
    table = _Table(_read_content(path), str(path))
    name = table.take("name", str)
    wanted = path.name.removesuffix(".op.toml") if path.name != _FILE else path.parent.name
    if name != wanted:
        of = "file" if path.name != _FILE else "folder"
        raise RegistryError(f"'name' is {name!r} but the {of} is {wanted!r}", where=str(path))
    attributes = tuple(
        _read_attribute(key, _Table(value, f"{path} [attributes] {key}"))
        for key, value in table.take("attributes", dict, {}).items()
    )
    arguments = tuple(
        _read_argument(_Table(item, f"{path} [[arguments]] {index}"))
        for index, item in enumerate(table.take("arguments", list), 1)
    )
    tiling = table.take("tiling", dict, None)
    replaces = tuple(
        _read_part(_Table(item, f"{path} [[replaces]] {index}"))
        for index, item in enumerate(table.take("replaces", list, []), 1)
    )
    kernels = [
        _read_kernel(name, path.parent, _Table(item, f"{path} [[kernels]] {index}"))
        for index, item in enumerate(table.take("kernels", list), 1)
    ]
    op = OpSpec(
        name=name,
        title=table.take("title", str),
        summary=table.take("summary", str),
        order=table.take("order", int),
        reference=table.take("reference", str),
        direction=table.choice("direction", DIRECTIONS),
        file=path,
        attributes=attributes,
        arguments=arguments,
        tiling=None if tiling is None else _read_tiling(path.parent, _Table(tiling, f"{path} [tiling]")),
        kernels=tuple(sorted(kernels, key=lambda kernel: kernel.step)),
        example=table.take("example", dict),
        replaces=replaces,
        capstone=table.take("capstone", str, ""),
    )
    table.finish()
    _check_op(op, str(path))
    return op


def _read_attribute(name: str, table: _Table) -> Attribute:
    kind = table.choice("type", ATTRIBUTE_TYPES)
    default = table.take("default", {"mask": list, "choice": str}.get(kind, (int, float)), None)
    attribute = Attribute(
        name=name,
        symbol=table.take("symbol", str),
        type=kind,
        default=tuple(default) if isinstance(default, list) else default,
        choices=tuple(table.take("choices", list)) if kind == "choice" else (),
    )
    table.finish()
    return attribute


def _read_argument(table: _Table) -> Argument:
    shape = table.take("shape", list, None)
    argument = Argument(
        name=table.take("name", str),
        role=table.choice("role", ROLES),
        dtype=table.take("dtype", str, DATA_DTYPE),
        shape=None if shape is None else tuple(str(axis) for axis in shape),
        like=table.take("like", str, ""),
        fill=table.take("fill", (int, float), None),
        symbol=table.take("symbol", str, ""),
        bytes=table.take("bytes", (int, str), 0),
        saved_by=table.take("saved_by", str, ""),
    )
    table.finish()
    return argument


def _read_part(table: _Table) -> Part:
    arrays = table.take("arrays", dict)
    part = Part(table.take("kernel", str), tuple((own, str(ours)) for own, ours in arrays.items()))
    table.finish()
    return part


def _read_tiling(folder: Path, table: _Table) -> TilingSpec:
    tiling = TilingSpec(
        header=folder / table.take("header", str),
        struct=table.take("struct", str),
        function=table.take("function", str),
        arguments=tuple(table.take("arguments", list)),
        blocks=table.take("blocks", str),
        group=table.take("group", str, ""),
    )
    table.finish()
    return tiling


def _read_kernel(op: str, folder: Path, table: _Table) -> KernelSpec:
    kernel = KernelSpec(
        id=f"{op}/{table.take('id', str)}",
        title=table.take("title", str),
        file=folder / table.take("file", str),
        entry=table.take("entry", str),
        step=table.take("step", int),
        dtypes=tuple(table.take("dtypes", list)),
        tolerance=_read_tolerance(_Table(table.take("tolerance", dict), f"{table.where} tolerance"), NARROW_DTYPES),
        tiling=table.take("tiling", str, ""),
        tiling_arguments=tuple(table.take("tiling_arguments", list, [])),
    )
    table.finish()
    return kernel


def _read_tolerance(table: _Table, narrow: tuple[str, ...] = ()) -> Tolerance:
    """rtol, atol and reason; and a table of the same for each dtype of ``narrow`` that has its own."""
    others = ((dtype, table.take(dtype, dict, None)) for dtype in narrow)
    tolerance = Tolerance(
        rtol=float(table.take("rtol", (int, float))),
        atol=float(table.take("atol", (int, float))),
        reason=table.take("reason", str),
        of_largest=float(table.take("of_largest", (int, float), 0.0)),
        narrow=tuple(
            (dtype, _read_tolerance(_Table(own, f"{table.where} {dtype}"))) for dtype, own in others if own is not None
        ),
    )
    table.finish()
    return tolerance


def _check_op(op: OpSpec, where: str) -> None:
    """Refuse what would only be noticed at a launch: a symbol that nothing binds, a second kernel of the same name."""
    names = [argument.name for argument in op.arguments]
    ids = [kernel.id for kernel in op.kernels]
    for label, values in (("argument", names), ("kernel", ids), ("step", [k.step for k in op.kernels])):
        twice = [value for value in values if values.count(value) > 1]
        if twice:
            raise RegistryError(f"{label} {twice[0]!r} is registered twice", where=where)
    if not op.kernels or not op.inputs:
        raise RegistryError("an operator has at least one kernel and one input", where=where)
    bound = {attribute.symbol for attribute in op.attributes} | {"cores", "dtype"}
    for argument in op.inputs:
        if argument.shape is None:
            raise RegistryError(f"input '{argument.name}' has no shape", where=where)
        if sum(axis.endswith("...") for axis in argument.shape) > 1:
            raise RegistryError(f"two symbols of '{argument.name}' stand for all other axes", where=where)
        for axis in argument.shape:
            bound |= {axis, axis.removesuffix("...")}
    used = [(f"argument '{a.name}'", a.symbol) for a in op.arguments if a.role == "value"]
    used += [(f"argument '{a.name}'", axis) for a in op.outputs for axis in a.shape or ()]
    used += [("[tiling]", symbol) for symbol in (op.tiling.arguments if op.tiling else ())]
    used += [(kernel.id, symbol) for kernel in op.kernels for symbol in kernel.tiling_arguments]
    for place, symbol in used:
        if symbol not in bound:
            raise RegistryError(
                f"{place} uses the symbol {symbol!r}, which no input and no attribute binds",
                where=where,
                hint=f"bound: {', '.join(sorted(bound))}",
            )
    for attribute in op.attributes:
        if attribute.type == "choice" and attribute.default not in (None, *attribute.choices):
            raise RegistryError(f"the default of '{attribute.name}' is none of its choices", where=where)
        if attribute.type != "mask":
            continue
        default = attribute.default if isinstance(attribute.default, tuple) else ()
        if len(default) != len(op.outputs) or not all(isinstance(one, bool) for one in default):
            raise RegistryError(f"'{attribute.name}' needs a default of one boolean for each output", where=where)
    inputs = {argument.name for argument in op.inputs}
    for argument in op.outputs:
        if argument.role == "out" and argument.shape is None and argument.like not in inputs:
            raise RegistryError(f"output '{argument.name}' needs a shape, or 'like' with an input", where=where)
    for argument in op.arguments:
        if isinstance(argument.bytes, str) and op.tiling is None:
            raise RegistryError(
                f"'bytes' of '{argument.name}' names a tiling field, but there is no [tiling]", where=where
            )
    for kernel in op.kernels:
        if kernel.tiling and op.tiling is None:
            raise RegistryError(f"{kernel.id} names a tiling function, but there is no [tiling]", where=where)
        if kernel.tiling_arguments and not kernel.tiling:
            raise RegistryError(f"{kernel.id} has tiling_arguments, but no tiling function of its own", where=where)
    if any(argument.role == "tiling" for argument in op.arguments) != (op.tiling is not None):
        raise RegistryError("an argument with the role 'tiling' and a [tiling] table go together", where=where)
