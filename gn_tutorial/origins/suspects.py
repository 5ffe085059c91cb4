"""What the steps behind wrong elements say by themselves: a sum of halves, an input that is read at another place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

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


def read_elsewhere(
    wrong: Sequence[tuple[int, OriginStep | None]], right: Sequence[tuple[int, OriginStep | None]], name: str
) -> str:
    """A sentence about an input that right elements take at their own place, and wrong ones elsewhere; else nothing.

    wrong, right: elements of the output and the steps behind them. name: of the first wrong one.
    """
    if not wrong or not right:
        return ""
    usual = [_shifts(step, index) for index, step in right]
    found = [_shifts(step, index) for index, step in wrong]
    for argument, (shift, line, file) in found[0].items():
        if shift == 0 or any(one.get(argument, (1, 0, ""))[0] != 0 for one in usual):
            continue
        if all(one.get(argument, (0, 0, ""))[0] != 0 for one in found):
            return (
                f"{name} is made of {argument}[{wrong[0][0] + shift}] (line {line} of {Path(file).name}), where right"
                f" elements take {argument} at their own place: look at what that line reads, and where its result goes"
            )
    return ""


def _shifts(step: OriginStep | None, index: int) -> dict[str, tuple[int, int, str]]:
    """For each input that is read once, as single elements: how far from the own place, and by which line."""
    found: dict[str, list[tuple[int, int, str]]] = {}
    for one in step.all() if step else ():
        for source in one.sources:
            if source.argument and source.step is None:
                shift = source.element - index if source.many == 1 else 1 << 62
                found.setdefault(source.argument, []).append((shift, one.line, one.file))
    return {argument: places[0] for argument, places in found.items() if len(places) == 1 and places[0][0] != 1 << 62}
