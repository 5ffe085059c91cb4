"""Reads and checks what ``gnt bench`` runs: the shapes and targets of ``kernels/<op>/bench.toml``.

If an operator is registered in a ``<name>.op.toml``, its file is ``<name>.bench.toml``. An operator without such a file
is benched on the shape of its ``[example]``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from gn_tutorial.errors import RegistryError
from gn_tutorial.operators.spec import OpSpec
from gn_tutorial.timing.lower_bound import ONE_READ, TWO_READS, TWO_READS_SPLIT
from gn_tutorial.toml_file import convert, read_toml

#: The default kind of a shape, such as one from the command line or from [example].
OWN = "own"
#: A kind of check -> the keys that a target with this check must have. ``bench.targets`` does the checks.
CHECKS = {
    "share of bound": ("least",),
    "at most": ("factor", "plus_us"),
    "against measured": ("factor", "below_us", "times", "of_shapes"),
    "speed-up": ("kernel", "over", "least"),
    "as it was": ("factor", "machine"),
}
#: Further keys that a target with this check may have.
MORE = {"speed-up": {"bound"}}


class BenchCase(Struct, frozen=True, forbid_unknown_fields=True):
    """One shape of the grid.

    kind: the name of its group, by which targets select shapes. attributes: the operator's, by name. lengths: lengths
    that the shape does not fix, by symbol, such as the O of Linear's weight; missing ones are those of the example.
    measured_us: a time that somebody else measured on a device, with its ``source``; None without one. was_us: the
    modelled time of the judged kernel, in microseconds, when the grid was last changed; None: it is not compared.
    """

    shape: tuple[Annotated[int, Meta(ge=1)], ...]
    attributes: Mapping[str, Any] = {}
    dtype: str = "float32"
    kind: Annotated[str, Meta(min_length=1)] = OWN
    measured_us: float | None = None
    source: str = ""
    was_us: float | None = None
    lengths: Mapping[str, int] = {}

    @property
    def elements(self) -> int:
        """Elements of the first input."""
        return math.prod(self.shape)

    def label(self, op: OpSpec) -> str:
        """Return the case as text, ``(8,32,64,64) G8 float16``: shape, attributes and lengths by symbol, dtype."""
        symbols = {a.name: a.symbol for a in op.attributes}
        parts = [
            f"{symbols.get(name, name)}{value:{'' if isinstance(value, str) else 'g'}}"
            for name, value in self.attributes.items()
        ]
        parts += [f"{symbol}{length}" for symbol, length in self.lengths.items()]
        return " ".join([f"({','.join(map(str, self.shape))})", *parts, self.dtype])


class Target(Struct, frozen=True, forbid_unknown_fields=True):
    """One condition that the results have to meet.

    check: one of CHECKS. kinds: the kinds of shapes that it applies to; empty: all. bound: only shapes whose bound for
    the kernel is of this kind (``timing.lower_bound``); "": any. kernel: the kernel that is judged; "": the last of the
    ladder that takes the dtype. machine: the name of the machine whose times are compared. over: the kernel that
    ``kernel`` must beat. The numbers are those that CHECKS[check] names; docs/benchmark.md explains them.
    """

    name: str
    check: Literal[*CHECKS]
    kinds: tuple[str, ...] = ()
    bound: Literal["", ONE_READ, TWO_READS, TWO_READS_SPLIT] = ""
    kernel: str = ""
    over: str = ""
    least: float = 0.0
    factor: float = 1.0
    plus_us: float = 0.0
    below_us: float = 0.0
    times: float = 1.0
    of_shapes: int = 0
    machine: str = ""


class Tune(Struct, frozen=True, forbid_unknown_fields=True):
    """A tiling field that ``gnt tune`` changes: its values are multiples of ``multiple``.

    from_step: the first step of the ladder whose kernels are tuned by this field; another Tune may replace it from a
    later step on. follows: a dependent field -> its value, an expression of whole numbers over the struct's fields and
    ``cores``, the machine's number of cores. most: an expression of the same kind for the largest value that is tried;
    "": the largest that fits into the Unified Buffer.
    """

    field: str
    multiple: int = 64
    from_step: int = 1
    most: str = ""
    follows: Mapping[str, str] = {}


@dataclass(frozen=True)
class Grid:
    """Shapes and targets of one operator.

    scalar_elements: the most elements of a shape on which a kernel of scalar accesses is run by default.
    """

    cases: tuple[BenchCase, ...]
    targets: tuple[Target, ...] = ()
    scalar_elements: int = 1 << 24
    tune: tuple[Tune, ...] = ()

    def knob(self, step: int) -> Tune | None:
        """Return the Tune of a kernel of this step; None without one."""
        return max((one for one in self.tune if one.from_step <= step), key=lambda one: one.from_step, default=None)


class _Default(Struct, frozen=True, forbid_unknown_fields=True):
    scalar_elements: int = Grid.scalar_elements


class _Bench(Struct, frozen=True, forbid_unknown_fields=True):
    shapes: tuple[BenchCase, ...]
    targets: tuple[Target, ...] = ()
    tune: tuple[Tune, ...] = ()
    default: _Default = _Default()


def load_grid(op: OpSpec) -> Grid:
    """Return the operator's grid. Raises RegistryError naming the file and the key at fault."""
    path = op.file.with_name(op.file.name.replace("op.toml", "bench.toml"))
    if not path.is_file():
        return Grid((example_case(op),))
    data = read_toml(path, "the grid")
    found = convert(data, _Bench, str(path))
    grid = Grid(found.shapes, found.targets, found.default.scalar_elements, found.tune)
    try:
        _check(op, grid, data)
    except ValueError as error:
        raise RegistryError(f"the grid has a mistake: {error}", where=str(path)) from error
    return grid


def example_case(op: OpSpec) -> BenchCase:
    """Return the shape and attributes of the operator's [example]."""
    attributes = {a.name: op.example[a.name] for a in op.attributes if a.name in op.example}
    return BenchCase(tuple(op.example["shape"]), attributes)


def _check(op: OpSpec, grid: Grid, data: dict[str, Any]) -> None:
    """Raise ValueError if a shape, a target or [[tune]] does not fit the operator, or a target has wrong keys or kinds.

    data: the file's contents.
    """
    if grid.tune and op.tiling is None:
        raise ValueError(f"[[tune]] names a field, but {op.name} has no tiling struct")
    for case in grid.cases:
        _check_case(op, case)
    for target, given in zip(grid.targets, data.get("targets", ()), strict=True):
        _check_target(op, target, set(given))
        if unknown := set(target.kinds) - {case.kind for case in grid.cases}:
            raise ValueError(f"target '{target.name}': no shape has the kind '{unknown.pop()}'")


def _check_case(op: OpSpec, case: BenchCase) -> None:
    if unknown := set(case.attributes) - {a.name for a in op.attributes}:
        raise ValueError(f"shape {list(case.shape)}: no attribute {unknown.pop()}")
    axes = {axis for argument in op.inputs for axis in argument.shape or ()} - set(op.inputs[0].shape or ())
    if unknown := set(case.lengths) - axes:
        raise ValueError(
            f"shape {list(case.shape)}: the operator has no length '{unknown.pop()}' besides those of the shape"
        )
    if (case.measured_us is None) == bool(case.source):
        raise ValueError(f"shape {list(case.shape)}: a measured time and its source go together")


def _check_target(op: OpSpec, target: Target, given: set[str]) -> None:
    wanted = set(CHECKS[target.check])
    allowed = {"name", "check", "kinds", "kernel"} | wanted | MORE.get(target.check, set())
    if wrong := (wanted - given) | (given - allowed):
        raise ValueError(f"target '{target.name}': {', '.join(sorted(wrong))} missing or out of place")
    for kernel in filter(None, (target.kernel, target.over)):
        if kernel not in [one.id for one in op.kernels]:
            raise ValueError(f"target '{target.name}': '{kernel}' is not registered")
