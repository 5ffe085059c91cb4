"""Deadlines of child processes, in time that they could run: on a shared machine a limit of wall time is unfair.

A limit of five seconds is meant for a loop that never ends. On a loaded machine, a class on one server, a right
program gets a tenth of a processor, and five seconds of the wall pass while it waits for its turn. So the time in which
a process wanted a processor and got none does not count, up to a limit: many threads of one endless loop wait for each
other too.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: A deadline comes after this many times its seconds at the latest, however busy the machine is.
LONGEST = 4
#: Between two looks at how long a process has waited.
LOOK_EVERY = 0.25


@dataclass(frozen=True)
class Ran:
    """How a program ended, and what it wrote to its standard output and error, where these were pipes."""

    code: int
    output: str
    errors: str
    stopped: bool  # it had its time before it ended


class Deadline:
    """``seconds`` from now on, for one process. Not counted: what ``waited_seconds`` says of it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._start = time.monotonic()

    def left(self, pid: int) -> float:
        """Seconds until the process has had its time, as far as one knows now; 0 or less: it has."""
        passed = time.monotonic() - self._start
        if passed < self._seconds:
            return self._seconds - passed
        return self._seconds + min(waited_seconds(pid), (LONGEST - 1) * self._seconds) - passed


def waited_seconds(pid: int) -> float:
    """How long the process was ready to run and had no processor: its thread that waited longest.

    Linux counts it: ``schedstat``, the second number, in nanoseconds (Documentation/scheduler/sched-stats.rst of the
    kernel). 0 where nobody does, and when the process is gone.
    """
    longest = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            longest = max(longest, int((thread / "schedstat").read_text().split()[1]))
    return longest / 1e9


def run_until(seconds: float, command: Sequence[str], *, text: str | None = None, **streams: Any) -> Ran:
    """Run a program until it ends or has had its time. text: its input; streams: as for ``subprocess.Popen``."""
    deadline, stopped = Deadline(seconds), False
    with subprocess.Popen(command, text=True, **streams) as process:
        try:
            while True:
                try:
                    output, errors = process.communicate(text, timeout=min(seconds, LOOK_EVERY))
                    return Ran(process.returncode, output or "", errors or "", stopped)
                except subprocess.TimeoutExpired:
                    text = None  # communicate goes on with what it was given first
                    if deadline.left(process.pid) <= 0:
                        process.kill()
                        stopped = True
        finally:
            process.kill()  # does nothing to a process that has ended
