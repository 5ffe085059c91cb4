"""The parts of a timeline. Span: an instruction occupies a pipe. Issue: the scalar unit issues to other pipes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gn_tutorial.abi.trace import Pipe


def place(file: str, line: int) -> str:
    """Return a line's label for tables and pictures: ``line 41`` in the kernel's own file, ``parts.h:41`` in a header.

    The label names a header, because a kernel may include several, whose lines have the same numbers.
    """
    return f"{Path(file).name}:{line}" if in_header(file) else f"line {line}"


def in_header(file: str) -> bool:
    """Whether this file is a header, not the kernel's own ``.cpp`` file."""
    return Path(file).suffix in (".h", ".hpp")


class Span(NamedTuple):
    """The time in which one instruction occupies a pipe of a core.

    start, end: in cycles from the start of the launch. done: when the result can be used; later than ``end`` for MTE2,
    whose data arrive after the next transfer has begun. op, file, line: the call in the kernel's source. event: its
    index in ``trace.blocks[block]``. bytes: bytes moved between global memory and the core. conflict: K, how many times
    longer the data of a vector instruction took because of bank conflicts. waited: cycles that the pipe was idle
    before ``start``. cause: the pipe for which it waited ("S" also if the scalar unit had not issued the instruction
    yet, "blocks" after SyncAll, "" if it did not wait). cause_line, cause_file: the place of that pipe's instruction.
    """

    block: int
    pipe: Pipe
    start: float
    end: float
    done: float
    op: str
    file: str
    line: int
    event: int
    bytes: int
    conflict: float
    waited: float
    cause: str
    cause_line: int
    cause_file: str

    @property
    def cycles(self) -> float:
        """The number of cycles for which the pipe was occupied."""
        return self.end - self.start

    @property
    def reason(self) -> str:
        """The reason why the pipe was idle before, as text: "V waited 120 cycles for MTE2 (line 41)"."""
        if not self.cause:
            return ""
        where = f" ({place(self.cause_file, self.cause_line)})" if self.cause_line else ""
        return f"{self.pipe.name} waited {self.waited:.0f} cycles for {self.cause}{where}"


class Issue(NamedTuple):
    """The time in which the scalar unit puts instructions, flags and waits of one source line into other pipes' queues.

    start, end: in cycles from the start of the launch. count: the number of these instructions. op: the first one's
    call. The scalar unit's busy time is the sum of its spans and its issues.
    """

    block: int
    start: float
    end: float
    op: str
    file: str
    line: int
    count: int
