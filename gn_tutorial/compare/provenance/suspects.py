"""Mistakes that the steps behind wrong elements show: a sum in half, an atomic add, padding, a wrong input element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gn_tutorial.compare.evidence import OutputEvidence
from gn_tutorial.compare.provenance.steps import OriginStep, Source
from gn_tutorial.compare.tolerance import within
from gn_tutorial.diagnostics.deciding import deciding

#: A sum of halves is named if it has at least _HALVES terms, and if the relative error is at most _ROUNDING: rounding
#: cannot explain a larger error.
_HALVES, _ROUNDING = 64, 0.05
#: The least number of wrong elements that must hold what belongs elsewhere: one alone may do so by chance.
_CHECKED = 2
#: Bits of a half's significand behind the leading one.
_HALF_BITS = 10


def halves_summed(step: OriginStep, value: float, right: float, number: Callable[[Source], float | None]) -> str:
    """Return a sentence if many halves were added in half, and the error is small enough to be rounding; else "".

    value, right: the element and its reference. number: returns the value that a source held.
    """
    if not np.isfinite([value, right]).all() or abs(value - right) > _ROUNDING * abs(right):
        return ""
    for one in step.all():
        for source in one.sources:
            terms, total = _halves(source.step), number(source)
            if source.step is None or terms < _HALVES or source.element_bytes != 2 or not total:
                continue
            gap = 2.0 ** (np.floor(np.log2(abs(total))) - _HALF_BITS)
            return (
                f"line {source.step.line}: {source.step.op} adds {terms} halves into a half, which near {total:.6g} has"
                f" multiples of {gap:g} only: Cast to float first, and add floats"
            )
    return ""


def _halves(step: OriginStep | None) -> int:
    """Return how many halves a step adds: the elements of a sum, or the rounds of an Add; 0 for other steps."""
    halves = [one for one in step.sources if one.element_bytes == 2 and one.floats] if step else []
    if step is None or not halves:
        return 0
    if "Sum" in step.op:
        return halves[0].many
    return 1 + max(one.rounds for one in halves) if step.op == "Add" else 0


def added_to(step: OriginStep, value: float, right: float, number: Callable[[Source], float | None]) -> str:
    """Return a sentence if an atomic copy added the right value to what was there; else "".

    step: the last writer. value, right: the element and its reference. number: returns the value that a source held.
    """
    there = next((source for source in step.sources if step.atomic and source.argument), None)
    before = number(there) if there else None
    if not before or not np.isclose(value - before, right, rtol=1e-5, atol=1e-6 * abs(before)):
        return ""
    return (
        f"line {step.line}: {step.op} adds to the {before:.6g} that was there, because an atomic mode is on: end it"
        " with SetAtomicNone before this line, or clear the output first"
    )


@dataclass(frozen=True)
class Padded:
    """The finding that a wrong element is padding, which a copy filled in behind a row.

    op, file, line: the copy. row_bytes: the length of the row.
    """

    op: str
    row_bytes: int
    file: str
    line: int
    explains: ClassVar[bool] = False

    def __str__(self) -> str:
        return (
            f"line {self.line}: {self.op} filled this in behind a row of {self.row_bytes} bytes: compare that with the"
            " row that should come (blockLen counts bytes), and with where its elements are taken from"
        )

    def decided_in(self) -> list[tuple[str, int]]:
        """Return the lines that decide the length of the rows."""
        return _decided_in("copy-struct", self)


def padded(step: OriginStep) -> Padded | None:
    """Return the first copy whose padding went into the element; None if there is none."""
    found = (Padded(one.op, one.padding, one.file, one.line) for one in step.all() if one.padding)
    return next(found, None)


@dataclass(frozen=True)
class Elsewhere:
    """The finding that wrong elements take an input from another place than right ones do.

    name: the first wrong element. argument, element: the input that it takes. file, line: the call that reads it.
    holds: the element of the output whose right value it has; "" if that is not known.
    """

    name: str
    argument: str
    element: int
    file: str
    line: int
    holds: str = ""

    @property
    def explains(self) -> bool:
        """Whether it tells why the element is wrong."""
        return bool(self.holds)

    def __str__(self) -> str:
        where = f"right elements take {self.argument} at their own place"
        where = f"and holds what belongs in {self.holds}" if self.holds else f"where {where}"
        return (
            f"{self.name} is made of {self.argument}[{self.element}] (line {self.line}), {where}: look at where that"
            " line reads, and where its result goes"
        )

    def decided_in(self) -> list[tuple[str, int]]:
        """Return the lines that decide where the call reads."""
        return _decided_in("global-start", self)


def _decided_in(what: str, found: Padded | Elsewhere) -> list[tuple[str, int]]:
    return [(found.file, one.line) for one in deciding((what,), found.file, found.line, str(found))]


def displaced(
    wrong: Sequence[tuple[int, OriginStep | None]], seen: OutputEvidence, name: Callable[[int], str]
) -> Elsewhere | None:
    """Return an input that wrong elements take elsewhere, if each holds what belongs there; None without one.

    wrong: elements of the output ``seen``, each with the steps behind it. name: returns an element's name. One of them
    may be made of what lies beyond the output's end.
    """
    wrong = [(index, step) for index, step in wrong if step]  # the others were never written
    found = [_shifts(step, index) for index, step in wrong]
    for argument, (shift, line, file) in found[0].items():
        moved = [
            (index, index + one.get(argument, (0, 0, ""))[0]) for (index, _), one in zip(wrong, found, strict=True)
        ]
        inside = [(here, there) for here, there in moved if here != there and 0 <= there < seen.wrong.size]
        if shift == 0 or moved[0] not in inside or len(inside) < max(_CHECKED, len(moved) - 1):
            continue
        here, there = (np.array(one) for one in zip(*inside, strict=True))
        if within(seen.ours[here], seen.truth[there], seen.rtol, seen.atol).all():
            index = wrong[0][0]
            return Elsewhere(name(index), argument, index + shift, file, line, name(index + shift))
    return None


def read_elsewhere(
    wrong: Sequence[tuple[int, OriginStep | None]],
    right: Sequence[tuple[int, OriginStep | None]],
    name: Callable[[int], str],
) -> Elsewhere | None:
    """Return an input that right elements take at their own place, and all wrong ones elsewhere; None without one.

    wrong, right: elements of the output, each with the steps behind it. name: returns an element's name. Half of the
    right elements are enough, because the others may be right by chance.
    """
    if not wrong or not right:
        return None
    usual, found = ([_shifts(step, index) for index, step in side] for side in (right, wrong))
    for argument, (shift, line, file) in found[0].items():
        own = sum(one.get(argument, (1, 0, ""))[0] == 0 for one in usual)
        if 2 * own >= len(usual) and all(one.get(argument, (0, 0, ""))[0] != 0 for one in found):
            return Elsewhere(name(wrong[0][0]), argument, wrong[0][0] + shift, file, line)
    return None


def _shifts(step: OriginStep | None, index: int) -> dict[str, tuple[int, int, str]]:
    """Return input -> (distance of its element from ``index``, line, file), for inputs with one such element."""
    found: dict[str, set[tuple[int, int, str]]] = {}
    waiting, seen = [step] if step else [], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for source in one.sources:
            if source.many != 1:
                continue  # a sort, a sum: any element may be behind it
            if source.step:
                waiting.append(source.step)
            elif source.argument:
                found.setdefault(source.argument, set()).add((source.element - index, one.line, one.file))
    return {argument: next(iter(places)) for argument, places in found.items() if len(places) == 1}
