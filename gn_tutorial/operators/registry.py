"""The registry: every operator and kernel of the course, read from ``kernels/<op>/op.toml``.

A folder may hold further operators whose kernels share its headers, each in a ``<name>.op.toml`` of its own:
``kernels/group_norm/group_norm_silu.op.toml``. With ``extends = "op.toml"`` such a file takes the keys that it
lacks from ``op.toml``.

A learner's own operator (``gnt new``) is a folder with an ``op.toml`` anywhere, called by its path. Its reference may
be a function of a file in the folder, ``reference = "reference.py:my_softmax"``.

A kernel is registered once. Tables, tests, the command line and the tour all use the registry, so a new file that is
not in an ``op.toml`` does not exist for them. A mistake in an ``op.toml`` is refused here, and the error names its file
and key.

Parsed files are cached, keyed by ``toml_file.look_of``, and an edited file is read again. An operator's name determines
its file. Only that file is read for a kernel, so a mistake in another operator's file stops no kernel.
"""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from gn_tutorial.abi.dtypes import NARROW_DTYPES
from gn_tutorial.compare.tolerance import Tolerance
from gn_tutorial.errors import RegistryError
from gn_tutorial.operators.spec import Attribute, AttributeType, KernelSpec, OpSpec, TilingSpec
from gn_tutorial.toml_file import convert, course_folder, look_of, read_toml

_FILE = "op.toml"


def kernels_root() -> Path:
    """Return the folder of the kernels: inside an installed package, or at the top of the repository.

    Raises RegistryError if neither exists.
    """
    return course_folder("kernels", "*/op.toml")


def load_registry(root: Path | None = None) -> dict[str, OpSpec]:
    """Read every ``<root>/<op>/op.toml`` and ``<name>.op.toml``; ``root`` is ``kernels_root()`` by default.

    Returns operator name -> OpSpec, in the course's order. Raises RegistryError, which names the faulty file and key.
    """
    folder = kernels_root() if root is None else Path(root)
    return _in_order([*folder.glob("*/op.toml"), *folder.glob("*/*.op.toml")])


def all_kernels(registry: dict[str, OpSpec]) -> list[tuple[OpSpec, KernelSpec]]:
    """Return every registered kernel with its operator, in the course's order."""
    return [(op, kernel) for op in registry.values() for kernel in op.kernels]


def find_operator(name: str | Path) -> OpSpec:
    """Return the operator with that name or in that folder. Raises RegistryError, which lists the names."""
    op = _registered(str(name))
    if op is not None:
        return op
    if is_operator(name):
        return _read_op(Path(name).resolve() / _FILE)
    hint = f"one of {', '.join(load_registry())}, or a folder with an {_FILE}"
    raise RegistryError(f"no operator is registered as '{name}'", hint=hint)


def _registered(name: str) -> OpSpec | None:
    """Return the registered operator of that name, or None. Reads only its file, which the name determines."""
    if "/" in name:
        return None
    root = kernels_root()
    paths = [f"{root}/{name}/{_FILE}", *(f"{root}/{folder}/{name}.op.toml" for folder in os.listdir(root))]
    return _in_order([Path(path) for path in paths if os.path.isfile(path)]).get(name)


def _in_order(paths: list[Path]) -> dict[str, OpSpec]:
    ops = sorted(map(_read_op, paths), key=lambda op: (op.order, op.name))
    return {op.name: op for op in ops}


def is_operator(folder: str | Path) -> bool:
    """Whether this is the folder of an operator."""
    return (Path(folder) / _FILE).is_file()


def find_kernel(name: str, registry: dict[str, OpSpec] | None = None) -> tuple[OpSpec, KernelSpec]:
    """Return the kernel called ``name``, with its operator.

    name: ``"group_norm/scalar"``; the operator's name if it has only one kernel; or the path of a learner's operator
    (``my_softmax``) or kernel (``my_softmax/first``). Raises RegistryError, which suggests the closest names.
    """
    of = name.partition("/")[0]
    op = _registered(of) if registry is None else registry.get(of)
    found = [(op, kernel) for kernel in op.kernels if name in (kernel.id, op.name)] if op else []
    found = found or _own(Path(name))
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(kernel.id for _, kernel in found)
        raise RegistryError(f"operator '{name}' has several kernels", hint=f"choose one of {ids}")
    names = [kernel.id for _, kernel in all_kernels(load_registry() if registry is None else registry)]
    short = [one.partition("/")[2] for one in names]
    matches = difflib.get_close_matches(name, [*names, *dict.fromkeys(short)], n=3)
    near = [one for match in matches for one in names if match in (one, one.partition("/")[2])]
    hint = f"did you mean {' or '.join(dict.fromkeys(near))}?" if near else f"registered: {', '.join(names)}"
    raise RegistryError(f"no kernel is registered as '{name}'", hint=hint)


def _own(path: Path) -> list[tuple[OpSpec, KernelSpec]]:
    """Return all kernels of an operator's folder (``my_softmax``), or one of them (``my_softmax/first``)."""
    for folder, short in ((path, ""), (path.parent, path.name)):
        if is_operator(folder):
            op = find_operator(folder)
            return [(op, kernel) for kernel in op.kernels if short in ("", kernel.id.partition("/")[2])]
    return []


class _Tolerance(Struct, forbid_unknown_fields=True, kw_only=True):
    rtol: float
    atol: float
    reason: str
    of_largest: float = 0.0


class _KernelTolerance(_Tolerance, kw_only=True):
    float16: _Tolerance | None = None
    bfloat16: _Tolerance | None = None

    def as_spec(self) -> Tolerance:
        own = {dtype: getattr(self, dtype) for dtype in NARROW_DTYPES}
        narrow = tuple((dtype, Tolerance(**asdict(one))) for dtype, one in own.items() if one is not None)
        return Tolerance(self.rtol, self.atol, self.reason, narrow, self.of_largest)


class _Kernel(KernelSpec, kw_only=True):
    file: str
    tolerance: _KernelTolerance


class _Tiling(TilingSpec):
    header: str


class _Attribute(Struct, forbid_unknown_fields=True, kw_only=True):
    symbol: str
    type: AttributeType
    default: float | int | str | tuple[Any, ...] | None = None
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.default, ({"mask": tuple, "choice": str}.get(self.type, (int, float)), type(None))):
            raise ValueError(f"'default' has a value of the wrong type: {self.default!r}")
        if (self.type == "choice") != bool(self.choices):
            raise ValueError("'choices' is missing" if self.type == "choice" else "only a choice has 'choices'")


class _Operator(OpSpec, kw_only=True):
    """The schema of an ``op.toml``: the fields of OpSpec. Those listed here have a form of their own in the file."""

    attributes: dict[str, _Attribute] = field(default_factory=dict)
    tiling: _Tiling | None = None
    kernels: tuple[_Kernel, ...]


def _read_op(path: Path) -> OpSpec:
    """Return the operator of a registry file. It is read again if the file, or an op.toml beside it, was edited."""
    return _read_once(path, look_of(path), look_of(path.with_name(_FILE)))


@functools.lru_cache(maxsize=256)
def _read_once(path: Path, *_looks: object) -> OpSpec:
    content = _read_content(path)
    if "file" in content:
        raise RegistryError("'file' is not a key of an operator", where=str(path), hint="a [[kernels]] has it")
    made = convert(content | {"file": path}, _Operator, str(path))
    wanted = path.name.removesuffix(".op.toml") if path.name != _FILE else path.parent.name
    if made.name != wanted:
        of = "file" if path.name != _FILE else "folder"
        raise RegistryError(f"'name' is {made.name!r} but the {of} is {wanted!r}", where=str(path))
    kernels = [
        KernelSpec(
            **asdict(one)
            | {"id": f"{made.name}/{one.id}", "file": path.parent / one.file, "tolerance": one.tolerance.as_spec()}
        )
        for one in sorted(made.kernels, key=lambda one: one.step)
    ]
    tiling = made.tiling and TilingSpec(**asdict(made.tiling) | {"header": path.parent / made.tiling.header})
    attributes = [Attribute(name=name, **asdict(one)) for name, one in made.attributes.items()]
    op = OpSpec(**asdict(made) | {"kernels": tuple(kernels), "tiling": tiling, "attributes": tuple(attributes)})
    for what, hint in _mistakes(op):
        raise RegistryError(what, where=str(path), hint=hint)
    return op


def _read_content(path: Path) -> dict[str, Any]:
    """Return key -> value of a registry file; keys that it lacks come from the file that it extends."""
    content = read_toml(path, "the registry file")
    base = content.pop("extends", None)
    if base is None:
        return content
    if base != _FILE or path.name == _FILE:
        raise RegistryError(f"'extends' is {base!r}", where=str(path), hint=f"a <name>.op.toml may extend {_FILE!r}")
    return {**_read_content(path.with_name(_FILE)), **content}


def _mistakes(op: OpSpec) -> Iterator[tuple[str, str]]:
    """Yield (mistake, hint) for mistakes that otherwise only a launch would show, such as a symbol without a value."""
    names = [argument.name for argument in op.arguments]
    ids = [kernel.id for kernel in op.kernels]
    for label, values in (("argument", names), ("kernel", ids), ("step", [k.step for k in op.kernels])):
        twice = [value for value in values if values.count(value) > 1]
        if twice:
            yield f"{label} {twice[0]!r} is registered twice", ""
    if not op.kernels or not op.inputs:
        yield "an operator has at least one kernel and one input", ""
    bound = {attribute.symbol for attribute in op.attributes} | {"cores", "dtype"}
    for argument in op.inputs:
        if argument.shape is None:
            yield f"input '{argument.name}' has no shape", ""
        if sum(axis.endswith("...") for axis in argument.shape or ()) > 1:
            yield f"two symbols of '{argument.name}' stand for all other axes", ""
        for axis in argument.shape or ():
            bound |= {axis, axis.removesuffix("...")}
    used = [(f"argument '{a.name}'", a.symbol) for a in op.arguments if a.role == "value"]
    used += [(f"argument '{a.name}'", axis) for a in op.outputs for axis in a.shape or ()]
    used += [("[tiling]", symbol) for symbol in (op.tiling.arguments if op.tiling else ())]
    used += [(kernel.id, symbol) for kernel in op.kernels for symbol in kernel.tiling_arguments]
    for place, symbol in used:
        if symbol not in bound:
            hint = f"bound: {', '.join(sorted(bound))}"
            yield f"{place} uses the symbol {symbol!r}, which no input and no attribute binds", hint
    for attribute in op.attributes:
        if attribute.type == "choice" and attribute.default not in (None, *attribute.choices):
            yield f"the default of '{attribute.name}' is none of its choices", ""
        flags = attribute.default if isinstance(attribute.default, tuple) else ()
        whole = len(flags) == len(op.outputs) and all(isinstance(one, bool) for one in flags)
        if attribute.type == "mask" and not whole:
            yield f"'{attribute.name}' needs a default of one boolean for each output", ""
    inputs = {argument.name for argument in op.inputs}
    for argument in op.arguments:
        if argument.role == "out" and argument.shape is None and argument.like not in inputs:
            yield f"output '{argument.name}' needs a shape, or 'like' with an input", ""
        if isinstance(argument.bytes, str) and op.tiling is None:
            yield f"'bytes' of '{argument.name}' names a tiling field, but there is no [tiling]", ""
    for kernel in op.kernels:
        if kernel.tiling and op.tiling is None:
            yield f"{kernel.id} names a tiling function, but there is no [tiling]", ""
        if kernel.tiling_arguments and not kernel.tiling:
            yield f"{kernel.id} has tiling_arguments, but no tiling function of its own", ""
    if any(argument.role == "tiling" for argument in op.arguments) != (op.tiling is not None):
        yield "an argument with the role 'tiling' and a [tiling] table go together", ""
