"""Values that were written through one tensor and overwritten through another one of the same memory.

Two calls of Get return the same bytes of a TBuf, tensors with addresses of the kernel's own may overlap, and
AllocTensor hands a freed buffer out again. The trace has for each operand which of these calls made its tensor.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from gn_tutorial.abi.trace import Event, MadeTensor
from gn_tutorial.compare.provenance.last_writer import Record
from gn_tutorial.compare.provenance.steps import OriginStep, Source

#: The most writes to one byte among which the overwritten one is looked for.
_WRITES = 64


@dataclass(frozen=True)
class Overwritten:
    """The finding that ``reader`` takes a byte through a tensor into which ``lost`` wrote it, but ``now`` overwrote it.

    meant: the tensor of ``reader`` and ``lost``. other: the tensor of ``now``. explains: whether the kernel uses the
    other one at the reader or later, and so takes the two for different memory; else the reader may want the new value.
    """

    reader: Event
    now: Event
    lost: Event
    meant: MadeTensor
    other: MadeTensor
    explains: bool

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """The places of the three events."""
        return tuple((one.file, one.line) for one in (self.reader, self.now, self.lost))

    def decided_in(self) -> list[tuple[str, int]]:
        """Return the lines that made the tensors."""
        return sorted({(one.file, one.line) for one in (self.meant, self.other)})

    def __str__(self) -> str:
        made = {one.line: one.op for one in (self.meant, self.other)}
        calls = " and ".join(f"{made[line]} in line {line}" for line in sorted(made))
        calls = calls if len(made) > 1 else f"two calls of {calls}"
        return (
            f"line {self.now.line}: {self.now.op} overwrites what {self.lost.op} in line {self.lost.line} wrote and"
            f" {self.reader.op} in line {self.reader.line} takes: {calls} return the same bytes"
        )


def overwritten(record: Record, step: OriginStep, passed: Iterable[OriginStep | None]) -> Overwritten | None:
    """Return the first such finding behind a wrong element; None if there is none, or if right elements have it too.

    step: the last step of the wrong element. passed: those of right ones.
    """
    found = _behind(record, step)
    right = {one.places for other in passed if found and other for one in _behind(record, other)}
    return next((one for one in found if one.places not in right), None)


def _behind(record: Record, step: OriginStep) -> list[Overwritten]:
    """Return the findings behind a step, in the order in which the values were taken."""
    sources = sorted((source for one in step.all() for source in one.sources), key=lambda one: (one.block, one.event))
    return [one for one in (_of(record, source) for source in sources) if one]


def _of(record: Record, source: Source) -> Overwritten | None:
    meant = record.tensor(source.block, source.event, source.operand)
    if meant is None:
        return None
    writes = list(itertools.islice(record.all_local(source.block, source.event, source.at), _WRITES))
    tensors = [record.tensor(*one[:3]) for one in writes]
    if meant not in tensors or tensors[0] in (None, meant):
        return None
    lost = writes[tensors.index(meant)]
    events = (record.event(source.block, number) for number in (source.event, writes[0].number, lost.number))
    return Overwritten(*events, meant, tensors[0], explains=record.uses(source.block, source.event, tensors[0]))
