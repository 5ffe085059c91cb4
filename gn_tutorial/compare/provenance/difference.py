"""Finds the first step in which the steps behind a wrong element and behind a right one of the same output differ.

Both are followed from the output back, side by side: at each step the same line, then the same sources. A difference
counts only if it separates all wrong elements that are compared from right ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gn_tutorial.abi.trace import Access, Event, Operand
from gn_tutorial.compare.provenance.last_writer import Record
from gn_tutorial.compare.provenance.operand_elements import count
from gn_tutorial.compare.provenance.steps import OriginStep, Source

_BLOCK, _WORD = 32, 64
#: At least one of so many right elements must differ from the wrong ones; the others may be right by chance.
_MOST = 1.5
#: The most blocks that a sentence names.
_NAMED = 3

#: Elements of an output, each with its index and the last step that wrote it.
Elements = Sequence[tuple[int, OriginStep | None]]
#: A function that returns the value that a source held, or the result of the step behind it.
Value = Callable[[Source], float | None]


@dataclass(frozen=True)
class FirstDifference:
    """The first difference between a right element and a wrong one.

    right, wrong: their indices. here, there: the source that was followed to the right element's step, and to the wrong
    one's, in the last step that both have. counted: the name of the count that differs, if the steps are the same.
    """

    right: int
    wrong: int
    here: Source
    there: Source
    counted: str = ""

    def sentence(self, record: Record, name: Callable[[int], str], held: Value, result: Value) -> str:
        """Return the difference in words. name: returns an element's name for its index."""
        right, wrong, ours, theirs = name(self.right), name(self.wrong), self.here.step, self.there.step
        if self.counted:
            return self._counts(right, wrong)
        if ours is None or (theirs is not None and _passes(theirs, ours)):
            assert theirs is not None  # one of the two is written by a step
            return f"{wrong} passes {_told(theirs, result(self.there), held)}, {right} does not"
        said = f"{right} passes {_told(ours, result(self.here), held)}, {wrong} does not"
        said += _left_out(record, ours, self.there)
        if theirs is None:
            return f"{said}; nothing has written what it takes instead"
        if _passes(ours, theirs):
            return said
        return f"{said}; it comes from {_told(theirs, result(self.there), held)} instead"

    def _counts(self, right: str, wrong: str) -> str:
        step, base, other = self.here.reader, self.here.step, self.there.step
        if self.counted == "many":
            said = f"{step.op} in line {step.line} takes {_many(self.here.many, 'element')} for {right}"
            return f"{said}, {self.there.many} for {wrong}"
        said = f"{step.op} in line {step.line} makes {_many(self.here.rounds + 1, 'round')} for {right}"
        said += f", {self.there.rounds + 1} for {wrong}"
        if base and other and base.key == other.key:
            said += f": both begin with {base.op} in line {base.line}, and nothing sets its result again in between"
        return said


def first_difference(failed: Elements, passed: Elements) -> FirstDifference | None:
    """Return the first difference that separates the wrong elements from right ones; None if there is none.

    Right elements of the first wrong one's block come first, then near ones: they have most steps in common with it.
    """
    wrong, step = failed[0]
    if step is None:
        return None
    near = sorted(
        ((index, one) for index, one in passed if one),
        key=lambda element: (element[1].block != step.block, abs(element[0] - wrong)),
    )
    for right, other in near:
        for counted, here, there in _differences(other, step):
            if _separates(counted, here, there, failed, passed):
                return FirstDifference(right, wrong, here, there, counted)
    return None


def stored_by(failed: Elements, passed: Elements) -> str:
    """Return which blocks stored the wrong elements, if other blocks stored the right ones; else "".

    What the blocks compute from their number may then be wrong.
    """
    wrong, right = ({step.block for _, step in side if step} for side in (failed, passed))
    if not wrong or not right or wrong & right or len(wrong) > _NAMED:
        return ""
    which = f"block{'s' * (len(wrong) > 1)} {', '.join(map(str, sorted(wrong)))}"
    return f"the wrong elements are of {which}, and right ones of other blocks: look at what depends on GetBlockIdx"


def _differences(right: OriginStep, wrong: OriginStep) -> Iterator[tuple[str, Source, Source]]:
    """Yield the differences of two elements, the nearest to the output first, and none of what comes before one.

    Each is the name of a count, "" for another step, and the sources of both.
    """
    if (right.op, right.place) != (wrong.op, wrong.place):
        return  # another line stores the wrong element: its star says so
    waiting, seen = deque([(right, wrong)]), {(id(right), id(wrong))}
    while waiting:
        ours, theirs = waiting.popleft()
        if len(ours.sources) != len(theirs.sources):
            continue
        for here, there in zip(ours.sources, theirs.sources, strict=True):
            for counted in ("many", "rounds"):
                if getattr(here, counted) != getattr(there, counted):
                    yield counted, here, there
            if here.step is None or there.step is None:
                if here.step is not there.step:
                    yield "", here, there
            elif (here.step.op, here.step.place) != (there.step.op, there.step.place):
                yield "", here, there
            elif (pair := (id(here.step), id(there.step))) not in seen:
                seen.add(pair)
                waiting.append((here.step, there.step))


def _separates(counted: str, here: Source, there: Source, failed: Elements, passed: Elements) -> bool:
    """Whether no wrong element has what the right one has here, or all have what hardly a right one has.

    A right element may be right by chance: then it has what the wrong ones have.
    """
    if counted:
        theirs = {one for _, step in failed for one in _counted(counted, here, step)}
        ours = [set(_counted(counted, here, step)) for _, step in passed]
        return not theirs & set(_counted(counted, here, here.reader)) and _most(not one & theirs for one in ours)
    ours, theirs = here.step, there.step
    if ours and not any(_passes(step, ours) for _, step in failed):
        return True
    if theirs is None or not all(_passes(step, theirs) for _, step in failed):
        return False
    return _most(not _passes(step, theirs) for _, step in passed)


def _most(holds: Iterable[bool]) -> bool:
    every = list(holds)
    return len(every) <= _MOST * sum(every)


def _counted(counted: str, like: Source, step: OriginStep | None) -> Iterator[int]:
    """Yield this count of each source that stands where ``like`` stands: in the same line, with the same role."""
    for one in step.all() if step else ():
        for source in one.sources:
            if (one.place, one.op, source.role) == (like.reader.place, like.reader.op, like.role):
                yield getattr(source, counted)


def _passes(step: OriginStep | None, by: OriginStep) -> bool:
    return step is not None and any((one.op, one.place) == (by.op, by.place) for one in step.all())


def _told(step: OriginStep, result: float | None, held: Value) -> str:
    taken = next((held(one) for one in step.sources if not one.is_number), None)
    values = [f"{one:.6g}" for one in (taken, result) if one is not None]
    return f"{step.op} in line {step.line}" + (f" ({' -> '.join(values)})" if len(values) == 2 else "")


def _left_out(record: Record, step: OriginStep, there: Source) -> str:
    """Return why an instruction of this step's line did not write what a wrong element takes; "" if that is unknown.

    This is the last instruction of that line before the wrong element is taken: its mask leaves a lane out, or it ends
    before the element. It must write where the instruction that takes the element reads.
    """
    begin = there.step.number if there.step and there.step.block == there.block else -1
    taken = record.event(there.block, there.event).operands[there.operand]
    for number in range(there.event - 1, begin, -1):
        event = record.event(there.block, number)
        if (event.op, event.file, event.line) != (step.op, step.file, step.line):
            continue
        for operand in event.operands:
            if operand.access == Access.READ or not taken.at <= operand.at <= there.at < taken.at + taken.bytes:
                continue
            if event.mask is not None:
                return _masked(event, operand, there.at)
            if there.at >= operand.at + operand.bytes:
                return f": its {_many(count(event, operand), 'element')} end before"
    return ""


def _masked(event: Event, operand: Operand, at: int) -> str:
    """Return the lane that the mask leaves out, and the word of the mask if all of that is 0."""
    mask = event.mask or 0
    step = max(operand.blk_stride, 1) * _BLOCK
    repeat, inside = divmod(at - operand.at, operand.rep_stride * _BLOCK or 8 * step)
    lane = inside // step * (_BLOCK // operand.element_bytes) + inside % step // operand.element_bytes
    if repeat >= event.repeats or mask >> lane & 1:
        return f": its {_many(event.repeats, 'repeat')} end before"
    word = lane // _WORD
    empty = not mask >> (word * _WORD) & ((1 << _WORD) - 1)
    return f": its mask leaves out lane {lane}" + (f" (mask[{word}] is 0)" if empty else "")


def _many(number: int, of: str) -> str:
    return f"{number} {of}{'s' * (number != 1)}"
