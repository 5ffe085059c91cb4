"""Deadlines of child processes, in wall time without the time that a process waits for a processor.

A limit of five seconds should stop a loop that never ends. On a loaded machine, such as a server that a class uses, a
correct program may get a tenth of a processor, and wait for most of the five seconds. So the time in which a process
was ready to run and got no processor does not count. LONGEST limits how much time is left out, because in an endless
loop with several threads, the threads wait for processors that the other threads occupy.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: A deadline passes at the latest after this many times its seconds in wall time, however busy the machine is.
LONGEST = 4
#: The most seconds between two checks of a running process.
LOOK_EVERY = 0.25


@dataclass(frozen=True)
class Ran:
    """The result of a program: its exit code, and its standard output and error, which are empty unless piped."""

    code: int
    output: str
    errors: str
    stopped: bool  # whether its deadline passed before it ended


class Deadline:
    """A deadline for one process, ``seconds`` from now; the process's ``waited_seconds`` do not count."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._start = time.monotonic()

    def left(self, pid: int) -> float:
        """Return the seconds left for process ``pid``; 0 or less if the deadline has passed.

        The time that the process waited is added only when ``seconds`` of wall time have passed. Before that, the
        result may be too small.
        """
        passed = time.monotonic() - self._start
        if passed < self.seconds:
            return self.seconds - passed
        return self.seconds + min(waited_seconds(pid), (LONGEST - 1) * self.seconds) - passed


def waited_seconds(pid: int) -> float:
    """Return how many seconds the process was ready to run without a processor: the most of any of its threads.

    Linux counts this time: the second number of ``schedstat``, in nanoseconds (Documentation/scheduler/sched-stats.rst
    of the kernel). Returns 0 on other systems, and if the process is gone.
    """
    longest = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            longest = max(longest, int((thread / "schedstat").read_text().split()[1]))
    return longest / 1e9


def run_until(seconds: float, command: Sequence[str], *, text: str | None = None, **streams: Any) -> Ran:
    """Run a program until it ends or its deadline passes. text: its input; streams: as for ``subprocess.Popen``."""
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
