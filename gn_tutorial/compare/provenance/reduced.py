"""Mistakes in what a reduction takes: elements that an earlier round left; a sum that is divided by a wrong number.

Both need all elements of the reduction, not only the one that the steps follow.
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.abi.trace import Access, Event, Flow, Kind, Operand, Space
from gn_tutorial.compare.provenance.last_writer import Record, Wrote
from gn_tutorial.compare.provenance.operand_elements import addresses, behind
from gn_tutorial.compare.provenance.origin import Origin
from gn_tutorial.compare.provenance.steps import OriginStep, Source

#: A quotient is a whole number if no other one is as near: its relative error is that of this many roundings to float.
_ROUNDINGS = 4 * 2.0**-23
#: The most element-wise instructions between a copy and the reduction.
_DEPTH = 8


def left_over(record: Record, step: OriginStep) -> str:
    """Return a sentence if a reduction takes more elements than the last instruction before it wrote; else "".

    The others then are of another instruction that wrote more of them from the same place on: in an earlier round of
    the same line, or in another line. A Duplicate before may fill them on purpose.
    """
    for source in _reduced(step):
        event = record.event(source.block, source.event)
        every = addresses(event, event.operands[source.operand])[list(source.elements)]
        found = record.writers(source.block, source.event, every)
        if len(found) < 2 or sum(len(which) for _, which, _ in found) < len(every):
            continue
        (last, which, _), (older, _, _), *_ = found
        made, before = record.event(last.block, last.number), record.event(older.block, older.number)
        written = made.operands[last.operand]
        if before.op == "Duplicate" or written.at != before.operands[older.operand].at or _accumulates(made, written):
            continue
        again = (made.op, made.file, made.line) == (before.op, before.file, before.line)
        left = len(every) - len(which)
        others = f"the other {left} are of " + ("an earlier round" if again else f"{before.op} in line {before.line}")
        return (
            f"line {source.reader.line}: {source.reader.op} takes {len(every)} elements, and {made.op} in line"
            f" {made.line} has written {len(which)} of them: {others}"
        )
    return ""


def _accumulates(event: Event, written: Operand) -> bool:
    """Whether an event combines what was in its destination with something else, as in Add(sum, sum, x)."""
    own = [one.at == written.at for one in event.operands if one.access == Access.READ and one.space == written.space]
    return written.access == Access.READ_WRITE or (any(own) and not all(own))


def divided(record: Record, origin: Origin) -> str:
    """Return a sentence if a sum is divided by another number than that of its elements, without padding; else ""."""
    for _, step, result in origin.walk():
        made = origin.result(result)
        for source in step.sources:
            summed, taken = _quotient(origin, step, source, made)
            total = origin.number(source)
            if summed is None or not taken or not total or not made:
                continue
            quotient = abs(total / taken)
            others = [abs(origin.number(one) or 0.0) for one in step.sources if not one.is_number]
            error = quotient * _ROUNDINGS * (1 + max([abs(made), *others]) / abs(taken))
            by = round(quotient)
            if by < 2 or error > 0.3 or abs(quotient - by) > error:
                continue
            many = _loaded(record, summed)
            if many and by != many and many <= 2 * by <= 4 * many:
                return (
                    f"the sum of {many} loaded elements (line {summed.reader.line}) is divided by {by} before {step.op}"
                    f" in line {step.line}"
                )
    return ""


def _quotient(
    origin: Origin, step: OriginStep, source: Source, made: float | None
) -> tuple[Source | None, float | None]:
    """Return the elements of the sum that a source holds, and what the step makes of it; None for other sources."""
    if source.is_number:
        read = source.step.sources[0].step if source.step and source.step.sources else None
        return _summed(read), origin.taken(step, made)
    return (_summed(source.step), made) if step.op == "Muls" else (None, None)


def _summed(step: OriginStep | None) -> Source | None:
    return next((one for one in step.sources if one.many > 1), None) if step and step.op == "ReduceSum" else None


def _reduced(step: OriginStep) -> list[Source]:
    return [source for one in step.all() for source in one.sources if source.many > 1 and not source.is_number]


def _loaded(record: Record, source: Source) -> int | None:
    """Return how many of the elements come from global memory, each by a way of its own; None if that is unknown."""
    event = record.event(source.block, source.event)
    every = addresses(event, event.operands[source.operand])[list(source.elements)]
    return _counted(record, source.block, source.event, every, _DEPTH)


def _counted(record: Record, block: int, before: int, every: np.ndarray, depth: int) -> int | None:
    found = record.writers(block, before, every)
    if not depth or sum(len(which) for _, which, _ in found) < len(every):
        return None
    total = 0
    for wrote, _, elements in found:
        many = _of_one(record, wrote, elements, depth)
        if many is None:
            return None
        total += many
    return total


def _of_one(record: Record, wrote: Wrote, elements: np.ndarray, depth: int) -> int | None:
    """Return how many of these elements, which one event wrote, come from global memory."""
    event = record.event(wrote.block, wrote.number)
    read = [one for one in event.operands if one.access == Access.READ]
    if event.kind == Kind.COPY and len(read) == 1 and read[0].space == Space.GM:
        written = event.operands[wrote.operand]
        return sum(bool(len(behind(event, written, int(one), read[0]))) for one in elements)
    if event.op == "Duplicate":
        return 0
    if event.flow != Flow.LANES or len({one.at for one in read}) != 1 or read[0].space != Space.UB:
        return None
    there = addresses(event, read[0])
    if len(there) <= elements.max(initial=0):
        return None
    return _counted(record, wrote.block, wrote.number, there[elements], depth - 1)
