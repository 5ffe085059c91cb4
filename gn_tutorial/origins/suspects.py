"""What the steps behind wrong elements say by themselves: a sum of halves, an input that is read at another place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gn_tutorial.origins.steps import OriginStep, Source

#: Halves from which on their sum is named, and the largest relative error that its rounding explains.
_HALVES, _ROUNDING = 64, 0.05
#: Bits of a half behind the leading one.
_HALF_BITS = 10


def halves_summed(step: OriginStep, value: float, right: float, number: Callable[[Source], float | None]) -> str:
    """A sentence about a sum of many halves in half, where the error is as small as rounding; else nothing.

    value, right: of the element. number: what a source held.
    """
    if not np.isfinite([value, right]).all() or abs(value - right) > _ROUNDING * abs(right):
        return ""
    for one in step.all():
        for source in one.sources:
            reader = source.step
            if reader is None or "Sum" not in reader.op:
                continue
            halves = [part for part in reader.sources if part.element_bytes == 2 and part.floats]
            total = number(source)
            if not halves or halves[0].many < _HALVES or source.element_bytes != 2 or not total:
                continue
            gap = 2.0 ** (np.floor(np.log2(abs(total))) - _HALF_BITS)
            return (
                f"line {reader.line}: {reader.op} adds {halves[0].many} halves into a half, which near {total:.6g} has"
                f" multiples of {gap:g} only: Cast to float first, and add floats"
            )
    return ""


@dataclass(frozen=True)
class Elsewhere:
    """Wrong elements take an input from another place than right ones do.

    name: of the first of them. argument, element: what it takes. file, line: of what reads it.
    """

    name: str
    argument: str
    element: int
    file: str
    line: int

    def __str__(self) -> str:
        return (
            f"{self.name} is made of {self.argument}[{self.element}] (line {self.line}), where right elements take"
            f" {self.argument} at their own place: look at where that line reads, and where its result goes"
        )


def read_elsewhere(
    wrong: Sequence[tuple[int, OriginStep | None]], right: Sequence[tuple[int, OriginStep | None]], name: str
) -> Elsewhere | None:
    """The input that most right elements take at their own place, and all wrong ones elsewhere; None if there is none.

    wrong, right: elements of the output and the steps behind them. name: of the first wrong one. Some right elements
    may be right by chance.
    """
    if not wrong or not right:
        return None
    usual, found = ([_shifts(step, index) for index, step in side] for side in (right, wrong))
    for argument, (shift, line, file) in found[0].items():
        own = sum(one.get(argument, (1, 0, ""))[0] == 0 for one in usual)
        if 2 * own >= len(usual) and all(one.get(argument, (0, 0, ""))[0] != 0 for one in found):
            return Elsewhere(name, argument, wrong[0][0] + shift, file, line)
    return None


def _shifts(step: OriginStep | None, index: int) -> dict[str, tuple[int, int, str]]:
    """For each input that the element takes one element of: how far that is from its own place, and by which line."""
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
