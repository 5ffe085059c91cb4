"""Tunes a launch with the timing model: runs it with several values of one field of the tiling struct.

The host function computes the struct. Then one field is replaced, and so are the fields that the operator's bench.toml
derives from it. Every candidate that fits the Unified Buffer is launched on the twin, compared with the reference, and
modelled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from gn_tutorial.errors import ArgumentError, KernelError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.spec import KernelSpec, OpSpec
from gn_tutorial.operators.tiling import Tiling
from gn_tutorial.profiler.bench.grid import BenchCase, Grid, Tune, load_grid
from gn_tutorial.profiler.bench.run import OK, WRONG, doubts_about, longest_wait, reason
from gn_tutorial.profiler.profile import Profile, profile_of, run_traced
from gn_tutorial.timing.machine import Machine

REFUSED = "refused"
#: The smallest value that is tried by default, as a multiple of the field's ``multiple``. Smaller tiles run long on the
#: twin and are never the fastest. If ``multiple`` is 1, the values begin at 1.
_FIRST = 4


class HasFields(Protocol):
    """A tiling struct of any origin: its numbers by name."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Field name -> value."""


class Tunable(Protocol):
    """A launch that depends on one whole number.

    chosen_by: as in Tuning. name: the kernel's name. case: its arguments as text. field: the number's name. own: its
    unchanged value. itemsize: the least bytes of the Unified Buffer for each unit of the number; 0: unknown.
    """

    chosen_by: str
    name: str
    case: str
    field: str
    own: int
    itemsize: int

    def tile(self, value: int) -> Any:
        """Return the tiling struct with this value of the number."""

    def launch(self, tile: Any) -> tuple[Profile, bool]:
        """Return the profile of a launch with this struct, and whether its numbers are right. Raises KernelError."""


@dataclass(frozen=True)
class Candidate:
    """One value of the field. status: OK, WRONG (as in bench.BenchRow) or REFUSED; ``note`` says why it is not OK.

    modelled_us: None if the value was refused. ub_bytes: bytes of the Unified Buffer in the block that used most. tile:
    the struct for the launch. ours: whether this is the unchanged value.
    """

    value: int
    status: str
    tile: HasFields
    ours: bool
    modelled_us: float | None = None
    ub_bytes: int = 0
    binding: str = ""
    waits: str = ""
    note: str = ""


@dataclass(frozen=True)
class Tuning:
    """The candidates of one tuning, in order of value. bound_us: the operator's lower bound on this shape; 0: unknown.

    chosen_by: the origin of the unchanged value, in words: "host function" or "call".
    """

    kernel: str
    case: str
    machine: str
    field: str
    candidates: tuple[Candidate, ...]
    bound_us: float
    chosen_by: str = "host function"

    @property
    def ran(self) -> tuple[Candidate, ...]:
        """The candidates with right numbers and a complete trace."""
        return tuple(one for one in self.candidates if one.status == OK)

    @property
    def best(self) -> Candidate | None:
        """The fastest of ``ran``; None if ``ran`` is empty.

        Of several equally fast ones, the one with the fewest bytes of UB; of several such ones, the unchanged value.
        """
        order = lambda one: (one.modelled_us or 0.0, one.ub_bytes, not one.ours, one.value)  # noqa: E731
        return min(self.ran, key=order, default=None)

    @property
    def matters(self) -> bool:
        """Whether two of ``ran`` differ in time or in memory; if not, the kernel probably does not use the field."""
        return len({(one.modelled_us, one.ub_bytes) for one in self.ran}) > 1

    @property
    def default(self) -> Candidate:
        """The candidate with the unchanged value."""
        return next(one for one in self.candidates if one.ours)


def tune(
    op: OpSpec,
    spec: KernelSpec,
    case: BenchCase,
    machine: Machine,
    *,
    field: str = "",
    values: Sequence[int] = (),
    seed: int = 0,
    tell: Callable[[str], None] = lambda text: None,
) -> Tuning:
    """Launch and model a kernel with several values of a field of the tiling struct, and with the host function's own.

    field: "" for the field that bench.toml names. values: the values to try; none: a series up to the size of the
    Unified Buffer or bench.toml's ``most``, and then the values halfway between the best value and its neighbours.
    Raises ArgumentError for an unknown field, a value that is no positive multiple of the field's ``multiple``, an
    operator without a tiling struct, an empty ``field`` if bench.toml names none, or an expression of bench.toml that
    cannot be computed; RegistryError for a wrong bench.toml.
    """
    grid = load_grid(op)
    subject = _Registered(op, spec, case, machine, _knob(op, spec, grid, field), seed)
    wanted = _checked(values, subject.knob) or _series(subject.knob, subject.most)
    return explore(subject, machine, wanted, multiple=0 if values else subject.knob.multiple, tell=tell)


def explore(
    subject: Tunable,
    machine: Machine,
    wanted: Sequence[int],
    *,
    multiple: int = 0,
    tell: Callable[[str], None] = lambda text: None,
) -> Tuning:
    """Launch and model the subject with each value, and with its own.

    multiple: if not 0, multiples of it that lie halfway between the best value and its neighbours are tried too.
    """
    bound_us = 0.0
    tried: dict[int, Candidate] = {}

    def attempt(value: int) -> None:
        nonlocal bound_us
        tile = subject.tile(value)
        candidate = Candidate(value, REFUSED, tile, value == subject.own)
        tell(f"{subject.name} with {subject.field} = {value}")
        if value * subject.itemsize > machine.ub_bytes:
            note = f"one tile is {value * subject.itemsize:,} bytes, the Unified Buffer {machine.ub_bytes:,}"
            tried[value] = replace(candidate, note=note)
            return
        try:
            made, right = subject.launch(tile)
        except KernelError as error:
            tried[value] = replace(candidate, note=reason(error))
            return
        doubts = doubts_about(made, right)
        bound_us = made.bound.microseconds if made.bound else 0.0
        tried[value] = replace(
            candidate,
            status=WRONG if doubts else OK,
            modelled_us=made.microseconds,
            ub_bytes=made.tally.ub_high_water,
            binding=made.binding.name,
            waits=longest_wait(made),
            note=doubts,
        )

    def all_of() -> Tuning:
        ordered = tuple(tried[value] for value in sorted(tried))
        return Tuning(subject.name, subject.case, machine.name, subject.field, ordered, bound_us, subject.chosen_by)

    for value in sorted({*wanted, subject.own}):
        attempt(value)
    if multiple and (best := all_of().best):
        for value in _between(best.value, sorted(tried), multiple):
            attempt(value)
    return all_of()


class _Registered:
    """The Tunable of a registered kernel on one shape; its number is a field of the operator's tiling struct."""

    chosen_by = "host function"

    def __init__(self, op: OpSpec, spec: KernelSpec, case: BenchCase, machine: Machine, knob: Tune, seed: int) -> None:
        self.name, self.case, self.field, self.knob = spec.id, case.label(op), knob.field, knob
        self._machine, self._group, self._attributes = machine, op.group, case.attributes
        self._arrays = random_inputs.inputs(
            op, case.shape, seed=seed, dtype=case.dtype, attributes=case.attributes, lengths=case.lengths
        )
        self._expected = random_inputs.expected(op, self._arrays, case.attributes)
        self._tolerance = spec.tolerance
        self.itemsize = next(iter(self._arrays.values())).itemsize
        self._kernel = Kernel.registered(op, spec)
        self._host = self._kernel.tiling(*self._arrays.values(), blocks=machine.cores, **case.attributes)
        self.own = _own_value(self._host, knob)
        self._known = {"cores": machine.cores}

    @property
    def most(self) -> int:
        """The largest value of a series: the largest that fits into the Unified Buffer and that bench.toml allows."""
        most = self._machine.ub_bytes // self.itemsize
        if not self.knob.most:
            return most
        return min(most, evaluate(self.knob.most, _whole({**self._host.fields, **self._known})))

    def tile(self, value: int) -> Tiling:
        return self._host if value == self.own else retile(self._host, self.knob, value, self._known)

    def launch(self, tile: Tiling) -> tuple[Profile, bool]:
        arrays = self._arrays
        result = run_traced(
            self._kernel, *arrays.values(), blocks=self._machine.cores, machine=self._machine, tiling=tile,
            **self._attributes,
        )  # fmt: skip
        made = profile_of(result, machine=self._machine, inputs=arrays, group=self._group)
        return made, result.compare(self._expected, self._tolerance).ok


def retile(host: Tiling, knob: Tune, value: int, known: Mapping[str, int] | None = None) -> Tiling:
    """Return the host function's struct with another value of the field, and of the fields that follow from it.

    known: name -> value of further numbers that the expressions may use, besides the struct's fields.
    """
    changed: dict[str, int] = {knob.field: value}
    for name, expression in knob.follows.items():
        changed[name] = evaluate(expression, _whole({**host.fields, **(known or {}), **changed}))
    return host.with_(**changed)


def _whole(fields: Mapping[str, Any]) -> dict[str, int]:
    return {name: value for name, value in fields.items() if isinstance(value, int)}


def _knob(op: OpSpec, spec: KernelSpec, grid: Grid, field: str) -> Tune:
    if op.tiling is None:
        raise ArgumentError(f"'{op.name}' has no tiling struct: its numbers are passed by value")
    if not field:
        known = grid.knob(spec.step)
        if known is None:
            raise ArgumentError(
                f"bench.toml names no field to tune for {spec.id}", hint="name one with --field, or add [[tune]] to it"
            )
        return known
    return next((one for one in grid.tune if one.field == field), Tune(field, multiple=1))


def _own_value(host: Tiling, knob: Tune) -> int:
    if knob.field not in host.fields or not isinstance(host[knob.field], int):
        numbers = ", ".join(_whole(host.fields))
        raise ArgumentError(f"{host.name} has no integer field '{knob.field}'", hint=f"fields: {numbers}")
    return host[knob.field]


def _checked(values: Sequence[int], knob: Tune) -> list[int]:
    for value in values:
        if value < 1 or value % knob.multiple:
            raise ArgumentError(f"{knob.field} cannot be {value}", hint=f"positive multiples of {knob.multiple}")
    return list(values)


def _series(knob: Tune, most: int) -> list[int]:
    """Return 4, 6, 8, 12, 16, 24 ... times ``multiple``, each about 1.4 times the one before, up to ``most``.

    If ``multiple`` is 1, the series begins with 1, 2, 3, 4.
    """
    values, step = set(), 1 if knob.multiple == 1 else _FIRST
    while step * knob.multiple <= most:
        values |= {step * knob.multiple, step * 3 // 2 * knob.multiple}
        step *= 2
    return sorted(value for value in values if value <= most)


def _between(value: int, tried: Sequence[int], multiple: int) -> list[int]:
    """Return the multiples halfway between a value and the next tried values below and above it."""
    place = tried.index(value)
    beside = tried[max(place - 1, 0) : place] + tried[place + 1 : place + 2]
    halves = {(value + one) // 2 // multiple * multiple for one in beside}
    return sorted(half for half in halves if half not in tried)


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max}


def evaluate(text: str, names: Mapping[str, int]) -> int:
    """Return the value of an expression of whole numbers, names, ``+ - * // %``, min and max.

    Raises ArgumentError quoting the expression for anything else, an unknown name, or a division by zero.
    """
    try:
        return _value(ast.parse(text, mode="eval").body, names)
    except (SyntaxError, ValueError, ZeroDivisionError) as error:
        raise ArgumentError(
            f"'{text}' cannot be computed: {error}", hint="whole numbers, names, + - * // %, min(...) and max(...)"
        ) from None


def _value(node: ast.expr, names: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            if name not in names:
                raise ValueError(f"there is no name '{name}'")
            return names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and args:
            return _FUNCTIONS[name](*[_value(one, names) for one in args]) if len(args) > 1 else _value(args[0], names)
    raise ValueError(f"'{ast.unparse(node)}' is not allowed")
