"""Deadlines of child processes, in wall time without the time that a process waits for a processor.

A limit of five seconds should stop a loop that never ends. On a loaded machine, such as a server with a class, a right
program gets a tenth of a processor, and waits for most of the five seconds. So the time in which a process wanted a
processor and got none does not count. But LONGEST limits how much of it is left out, because in an endless loop with
several threads these wait for each other.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: A deadline comes at the latest after this many times its seconds, however busy the machine is.
LONGEST = 4
#: Seconds between two checks of how long a process has waited.
LOOK_EVERY = 0.25


@dataclass(frozen=True)
class Ran:
    """The end of a program: its exit code, and its standard output and error if these were pipes."""

    code: int
    output: str
    errors: str
    stopped: bool  # whether its deadline passed before it ended


class Deadline:
    """A deadline ``seconds`` from now for one process, whose ``waited_seconds`` do not count."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._start = time.monotonic()

    def left(self, pid: int) -> float:
        """Return the seconds left until the deadline, as known now; 0 or less if it has passed."""
        passed = time.monotonic() - self._start
        if passed < self.seconds:
            return self.seconds - passed
        return self.seconds + min(waited_seconds(pid), (LONGEST - 1) * self.seconds) - passed


def waited_seconds(pid: int) -> float:
    """Return how long the process was ready to run without a processor: the longest wait of its threads.

    Linux counts it: the second number of ``schedstat``, in nanoseconds (Documentation/scheduler/sched-stats.rst of the
    kernel). 0 on other systems, and if the process is gone.
    """
    longest = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            longest = max(longest, int((thread / "schedstat").read_text().split()[1]))
    return longest / 1e9


def run_until(seconds: float, command: Sequence[str], *, text: str | None = None, **streams: Any) -> Ran:
    """Run a program until it ends or its deadline stops it. text: its input; streams: as for ``subprocess.Popen``."""
    deadline, stopped = Deadline(seconds), False
    with subprocess.Popen(command, text=True, **streams) as process:
        try:
            while True:
                try:
                    output, errors = process.communicate(text, timeout=min(seconds, LOOK_EVERY))
                    return Ran(process.returncode, output or "", errors or "", stopped)
                except subprocess.TimeoutExpired:
                    text = None  # communicate continues with the input of its first call
                    if deadline.left(process.pid) <= 0:
                        process.kill()
                        stopped = True
        finally:
            process.kill()  # does nothing to a process that has ended
