"""Which of the many elements behind one number is followed: not just the first one, but the one that matters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gn_tutorial.abi.trace import SCALARS, Kind, Watch
from gn_tutorial.origins.layout import address_of
from gn_tutorial.origins.record import Record
from gn_tutorial.origins.steps import OriginStep, Source

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


def watches(record: Record, source: Source) -> Iterator[Watch]:
    """One for each of the source's elements, in their order."""
    event = record.event(source.block, source.event)
    operand = event.operands[source.operand]
    scalar = event.kind == Kind.SCALARS
    for element in source.elements:
        at = address_of(event, operand, element)
        at = operand.at if at is None else at
        yield Watch(
            source.block, source.event, SCALARS if scalar else source.operand, at if scalar else at - operand.at
        )


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


def choices(
    record: Record, step: OriginStep, numbers: Mapping[Watch, float | None]
) -> dict[tuple[int, int, int, int], int]:
    """What ``Record.choices`` is to know of the reductions behind a step. numbers: what the watches saw."""
    found = {}
    for one, source in folds(step):
        values = [numbers.get(watch) for watch in watches(record, source)]
        found[source.key] = source.elements[chosen(one.op, values)]
    return found
