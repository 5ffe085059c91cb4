"""A span: one pipe busy from one cycle to another. An issue: the scalar unit, busy with feeding the others."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gn_tutorial.abi.trace import Pipe


def place(file: str, line: int) -> str:
    """Name a line as tables and pictures do: ``line 41`` in the kernel's own file, ``parts.h:41`` in a header.

    A kernel may include several headers, whose lines have the same numbers.
    """
    return f"{Path(file).name}:{line}" if in_header(file) else f"line {line}"


def in_header(file: str) -> bool:
    """Whether this file is a header, not the kernel's own ``.cpp`` file."""
    return Path(file).suffix in (".h", ".hpp")


class Span(NamedTuple):
    """A pipe of a core was occupied from ``start`` to ``end``, in cycles from the start of the launch.

    done: when the result can be used; later than ``end`` for MTE2, whose data arrive after the next transfer began.
    op, file, line: the call in the kernel's source. event: its place in ``trace.blocks[block]``. bytes: moved between
    global memory and the core. conflict: K, how many times longer the data of a vector instruction took because of
    bank conflicts. waited: cycles that the pipe was idle before. ``cause``: the pipe that it waited for ("S"
    also if the scalar unit had not issued the instruction yet, "blocks" after SyncAll, "" if it did not wait).
    ``cause_line`` and ``cause_file``: the place of that pipe's last instruction.
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
        """The cycles for which the pipe was occupied."""
        return self.end - self.start

    @property
    def reason(self) -> str:
        """The reason why the pipe was idle before, as text: "V waited 120 cycles for MTE2 (line 41)"."""
        if not self.cause:
            return ""
        where = f" ({place(self.cause_file, self.cause_line)})" if self.cause_line else ""
        return f"{self.pipe.name} waited {self.waited:.0f} cycles for {self.cause}{where}"


class Issue(NamedTuple):
    """The scalar unit put instructions, or flags and waits, into the queues of other pipes from ``start`` to ``end``.

    Times in cycles from the start of the launch. ``count`` successive instructions of one source line; ``op`` is the
    call of the first. The scalar unit is busy meanwhile: its busy time is the sum of its spans and these.
    """

    block: int
    start: float
    end: float
    op: str
    file: str
    line: int
    count: int
