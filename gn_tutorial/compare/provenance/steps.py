"""Finds the steps that led to one element of an output in the trace of its launch, the last step first."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from gn_tutorial.abi.trace import SCALARS, Access, Event, Kind, Space, Watch
from gn_tutorial.compare.provenance.last_writer import Record, Wrote
from gn_tutorial.compare.provenance.operand_elements import address_of, behind, bit_of

#: The most steps behind an element; rounds of a loop over one line that are skipped; scalar reads that an instruction's
#: number may come from.
_STEPS, _ROUNDS, _NUMBERS = 24, 1 << 16, 3
#: Instructions that take a number, besides those whose name ends in s: Adds, Muls, Compares ...
_TAKE_A_NUMBER = ("Duplicate", "Axpy", "LeakyRelu", "ShiftLeft", "ShiftRight", "CreateVecIndex", "Arange", "SetValue")
#: The role of a source that the scalar unit read, and that the instruction may have taken as its number.
NUMBER = "number"


@dataclass
class Source:
    """One of the operands, or numbers, that a step's result is made of.

    elements: the operand's elements that the result depends on. chosen: the element to follow. block, event, operand:
    the operand's place in the trace. at: the address of the chosen element. argument, element: in global memory the
    argument's name and the chosen element's number in it, else "" and 0. floats, element_bytes: the elements' type.
    bit: if one bit of the chosen element decides the result, its number, else -1.
    reader: the step that uses the source. step: the step that wrote the chosen element; None if no step wrote it, or if
    the trace stops here. rounds: how many rounds of a loop are skipped: in each, the line that uses the source wrote it
    again, after ``step``. made: where to read the value that ``step`` left.
    """

    role: str
    elements: range
    chosen: int
    block: int
    event: int
    operand: int
    at: int
    watch: Watch
    floats: bool
    element_bytes: int
    argument: str = ""
    element: int = 0
    bit: int = -1
    reader: OriginStep = field(init=False, repr=False, compare=False)
    step: OriginStep | None = None
    rounds: int = 0
    made: Watch | None = None

    @property
    def is_number(self) -> bool:
        """Whether the scalar unit read it, and the instruction may have taken it as its number."""
        return self.role == NUMBER

    @property
    def many(self) -> int:
        """The number of elements."""
        return len(self.elements)

    @property
    def key(self) -> tuple[int, int, int, int]:
        """A key that no other source of the launch has."""
        return self.block, self.event, self.operand, self.elements[0]


@dataclass
class OriginStep:
    """An instruction, a copy, or a scalar access, with the sources of its result.

    block, number: its event in the trace. takes_number: the result also depends on a number given in the call. atomic:
    a copy combined the result with the value before. padding: if the result is padding of a copy, the bytes of the row
    before it, else 0.
    """

    op: str
    file: str
    line: int
    block: int
    number: int
    takes_number: bool = False
    atomic: bool = False
    padding: int = 0
    sources: list[Source] = field(default_factory=list)

    @property
    def place(self) -> tuple[str, int]:
        """The file and the line of the step."""
        return self.file, self.line

    @property
    def key(self) -> tuple[int, int]:
        """A key that no other step of the launch has."""
        return self.block, self.number

    def all(self) -> Iterator[OriginStep]:
        """Yield this step and all steps behind it, each once."""
        seen: set[int] = set()
        waiting = [self]
        while waiting:
            step = waiting.pop()
            if id(step) in seen:
                continue
            seen.add(id(step))
            yield step
            waiting += [source.step for source in step.sources if source.step]


def steps_to(record: Record, address: int) -> OriginStep | None:
    """Return the step that last wrote this byte of global memory, with the steps behind it; None if none wrote it."""
    last = record.last(address)
    if last is None:
        return None
    known: dict[Wrote, OriginStep] = {}
    root = _step(record, last, known)
    waiting = deque([last])
    while waiting:
        writer = waiting.popleft()
        step = known[writer]
        step.sources = list(_sources(record, writer))
        step.padding = 0 if step.sources else _row_before_padding(record.event(writer.block, writer.number))
        for source in step.sources:
            source.reader = step
            found, source.rounds, source.made = _behind(record, writer, source)
            if found is None or (found not in known and len(known) == _STEPS):
                continue
            if found not in known:
                waiting.append(found)
            source.step = _step(record, found, known)
    return root


def _step(record: Record, writer: Wrote, known: dict[Wrote, OriginStep]) -> OriginStep:
    if writer not in known:
        event = record.event(writer.block, writer.number)
        known[writer] = OriginStep(event.op, event.file, event.line, *writer[:2], _takes_number(event), event.atomic)
    return known[writer]


def _row_before_padding(event: Event) -> int:
    """Return the bytes of a row if the event is a copy from global memory, else 0."""
    source = next((one for one in event.operands if one.access == Access.READ), None)
    if event.kind != Kind.COPY or source is None or source.space != Space.GM:
        return 0
    return source.row_bytes or source.bytes


def _takes_number(event: Event) -> bool:
    vector = event.kind == Kind.VECTOR and event.op.endswith("s") and event.op not in ("Abs", "Cos")
    return vector or event.op in _TAKE_A_NUMBER


def _sources(record: Record, writer: Wrote) -> Iterator[Source]:
    event = record.event(writer.block, writer.number)
    written = event.operands[writer.operand]
    if written.access == Access.READ:  # GetValue: its result is a number of the scalar unit
        yield _source(record, writer.block, writer.number, writer.operand, range(writer.element, writer.element + 1))
        return
    for index, operand in enumerate(event.operands):
        if operand.access == Access.READ:
            elements = behind(event, written, writer.element, operand)
            if len(elements):
                source = _source(record, writer.block, writer.number, index, elements)
                bit = bit_of(event, written, writer.element, operand)
                source.bit = -1 if bit is None else bit % (8 * operand.element_bytes)
                yield source
    if event.atomic:
        yield _source(record, writer.block, writer.number, writer.operand, range(writer.element, writer.element + 1))
    if _takes_number(event):
        for number in _numbers(record, writer.block, writer.number):
            read = record.event(writer.block, number)
            elements = (
                range(1) if read.lanes == 1 or read.lanes != event.lanes else range(writer.element, writer.element + 1)
            )
            yield _source(record, writer.block, number, 0, elements, role=NUMBER)


def watched(record: Record, block: int, number: int, index: int, element: int) -> tuple[int, Watch]:
    """Return the address of an element of an event's operand, and the Watch that reads its value."""
    event = record.event(block, number)
    operand = event.operands[index]
    at = address_of(event, operand, element)
    at = operand.at if at is None else at
    scalar = event.kind == Kind.SCALARS
    return at, Watch(block, number, SCALARS if scalar else index, at if scalar else at - operand.at)


def _source(record: Record, block: int, number: int, index: int, elements: range, *, role: str = "") -> Source:
    event = record.event(block, number)
    operand = event.operands[index]
    element = record.choices.get((block, number, index, elements[0]), elements[0])
    at, watch = watched(record, block, number, index, element)
    source = Source(
        role or operand.role, elements, element, block, number, index, at, watch, operand.floats, operand.element_bytes
    )
    if operand.space == Space.GM:
        source.argument = operand.argument
        start = next((one.address for one in record.trace.arguments if one.name == operand.argument), operand.at)
        source.element = (at - start) // operand.element_bytes
    return source


def _numbers(record: Record, block: int, number: int) -> list[int]:
    """Return the last scalar reads before an event: one of them may have read the number that the event takes."""
    found: list[int] = []
    for at in range(number - 1, -1, -1):
        event = record.event(block, at)
        if event.kind == Kind.SCALARS and event.operands[0].access == Access.READ:
            found.append(at)
        elif found and (event.kind in (Kind.VECTOR, Kind.COPY) or event.kind == Kind.SCALARS):
            break
        if len(found) == _NUMBERS:
            break
    return found


def _behind(record: Record, writer: Wrote, source: Source) -> tuple[Wrote | None, int, Watch]:
    """Return the event that wrote the source, the number of skipped rounds of one line, and a Watch on its result."""
    if source.role == NUMBER:
        begin = record.event(source.block, source.event).operands[source.operand].at
        return (
            Wrote(source.block, source.event, source.operand, (source.at - begin) // source.element_bytes),
            0,
            source.watch,
        )
    here = record.event(writer.block, writer.number)
    rounds = 0
    while True:
        operand = record.event(source.block, source.event).operands[source.operand]
        find = record.local if operand.space == Space.UB else record.shared
        found = find(source.block, source.event, source.at)
        if found is None:
            return None, rounds, source.watch
        made = record.event(found.block, found.number)
        if (made.line, made.file, made.op) != (here.line, here.file, here.op) or rounds == _ROUNDS:
            return found, rounds, source.watch
        again = next((one for one in _sources(record, found) if one.role == source.role), None)
        if again is None:
            return found, rounds, source.watch
        source, rounds = again, rounds + 1
