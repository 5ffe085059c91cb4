"""Which of the many elements behind one number is followed: not just the first one, but the one that matters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gn_tutorial.abi.trace import Watch
from gn_tutorial.origins.record import Record
from gn_tutorial.origins.steps import OriginStep, Source, watched

#: Elements of one reduction, and of all reductions behind a number, that are looked at.
_EACH, _ALL = 4096, 16384


def folds(step: OriginStep) -> list[tuple[OriginStep, Source]]:
    """The sources of many elements, with the steps that read them; none too many to be looked at."""
    found, left = [], _ALL
    for one in step.all():
        for source in one.sources:
            if 1 < source.many <= min(_EACH, left):
                left -= source.many
                found.append((one, source))
    return found


def watches(record: Record, source: Source) -> list[Watch]:
    """One for each of the source's elements, in their order."""
    place = source.block, source.event, source.operand
    return [watched(record, *place, element)[1] for element in source.elements]


def chosen(op: str, values: Sequence[float | None]) -> int:
    """The number of the element that is followed: one that is no finite number, or the extreme, or the largest."""
    known = np.array([np.nan if one is None else one for one in values], np.float64)
    if not np.isfinite(known).all():
        return int(np.argmin(np.isfinite(known)))
    if "Max" in op:
        return int(known.argmax())
    if "Min" in op:
        return int(known.argmin())
    return int(np.abs(known).argmax()) if "Sum" in op or "Mean" in op else 0
