"""Runs an attempt: in a process of its own, or in a fork of a process that has imported what every attempt needs.

A learner's attempt has a process of its own. Authors and CI judge some twenty attempts in a row; those are forks.
Otherwise each attempt would import PyTorch anew, which takes seconds, for a tenth of a second of work.

An attempt has one folder. The checker writes ``job.json`` and the files that it names. The child writes
``report.jsonl``: a line of JSON for each call, before the next call, so that a loop without end loses no earlier line.
The child's output is in ``printed``. The child's side of this protocol is ``attempt_child``.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from gn_tutorial.runtime.deadline import LOOK_EVERY, Deadline, Ran, run_until

_COMMAND = (sys.executable, "-P", str(Path(__file__).with_name("attempt_child.py")))
#: macOS has os.fork, but its libraries may crash in a fork; Windows has none.
CAN_FORK = sys.platform == "linux"
#: The most seconds to import the libraries, and to fork or end; each takes far less. A job's time begins at its fork.
_IMPORT_SECONDS, _END_SECONDS = 60.0, 5.0


def by_itself(seconds: float, folder: Path, command: Sequence[str] = _COMMAND) -> Ran:
    """Run the job in a new process, by default an ``attempt_child`` for a Python exercise. This is a Runner."""
    with (folder / "printed").open("wb") as printed:
        return run_until(seconds, [*command, str(folder)], stdin=subprocess.DEVNULL, stdout=printed, stderr=printed)


class Forks:
    """A parent process that forks once per attempt; ``run`` is a Runner. When the context is left, it ends the parent.

    libraries: the modules that the parent imports besides NumPy, the same as the ``libraries`` of every job. An attempt
    has the same limits as in a process by itself. No attempt affects a later one, because the parent runs none of them.
    Where the system cannot fork, or a fork cannot be started, an attempt runs in a process by itself.
    """

    def __init__(self, libraries: Sequence[str]) -> None:
        self._libraries = libraries
        self._parent: subprocess.Popen[bytes] | None = None
        self._useless = not CAN_FORK

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    def run(self, seconds: float, folder: Path) -> Ran:
        """Run a job as ``by_itself`` does; importing the libraries does not count against the job's seconds."""
        (folder / "printed").touch()
        pid = self._forked(folder)
        if not pid:
            return by_itself(seconds, folder)
        code = None
        try:
            code = self._answer(Deadline(seconds), pid)
        except TimeoutError:
            return Ran(-signal.SIGKILL, "", "", stopped=True)
        finally:
            if code is None:  # time is over, the fork ended its parent, or a KeyboardInterrupt came
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                self._end()
        return Ran(-signal.SIGKILL if code is None else code, "", "", stopped=False)

    def _forked(self, folder: Path) -> int:
        """Start a fork that runs the job, and return its process id; 0 if none could be started."""
        if self._parent is None and not self._useless:
            self._start()
        if self._parent is None or self._parent.stdin is None:
            return 0
        try:
            self._parent.stdin.write(json.dumps(str(folder)).encode() + b"\n")
            pid = self._answer(Deadline(_END_SECONDS), self._parent.pid)
        except (OSError, TimeoutError):
            pid = None
        if not pid:
            self._end()
        return pid or 0

    def _start(self) -> None:
        pipe, command = subprocess.PIPE, [*_COMMAND, "--fork", *self._libraries]
        # Unbuffered, because select sees only what is still in the pipe.
        parent = subprocess.Popen(command, bufsize=0, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        self._parent = parent
        try:
            ready = self._answer(Deadline(_IMPORT_SECONDS), parent.pid)
        except TimeoutError:
            ready = None
        if ready is None:
            self._end()
            self._useless = True  # if a library does not load, each attempt reports it

    def _answer(self, deadline: Deadline, pid: int) -> int | None:
        """Return the parent's next number; None if the parent is gone. Raises TimeoutError when pid's time is over."""
        assert self._parent
        assert self._parent.stdout
        while not select.select([self._parent.stdout], [], [], LOOK_EVERY)[0]:
            if deadline.left(pid) <= 0:
                raise TimeoutError
        line = self._parent.stdout.readline().strip()
        return int(line) if line.lstrip(b"-").isdigit() else None

    def _end(self) -> None:
        """End the parent. It first waits for its fork, so afterwards neither of them runs."""
        parent, self._parent = self._parent, None
        if parent is None:
            return
        with parent:
            if parent.stdin:
                parent.stdin.close()
            try:
                parent.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                parent.kill()


_SHOWN_BYTES, _SHOWN_LINES = 2000, 8

#: Runs the job in a folder for at most the given seconds.
Runner = Callable[[float, Path], Ran]


@dataclass(frozen=True)
class JobReport:
    """The report of a job. facts: one for each call that was answered, None if the report cannot be read.

    ended: why there are no more facts, as the end of a sentence about the attempt. printed: the last lines of output,
    if the process ended by itself. signal: the signal that ended the process, or 0.
    """

    facts: list[dict[str, Any]] | None
    ended: str
    printed: str = ""
    signal: int = 0


def run_job(run: Runner, seconds: float, folder: Path, job: Mapping[str, Any]) -> JobReport:
    """Write the job into ``folder``, have it run, and read what it reports."""
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    ran = run(seconds, folder)
    if ran.stopped:
        ended = f"ran longer than {seconds:g} s and was stopped: look for a loop that never ends"
        return JobReport(_facts(folder / "report.jsonl"), ended)
    text = (folder / "printed").read_bytes()[-_SHOWN_BYTES:].decode("utf-8", "replace")
    printed = "\n".join(text.splitlines()[-_SHOWN_LINES:]).strip()
    ended = f"ended its process (exit code {ran.code})"
    return JobReport(_facts(folder / "report.jsonl"), ended, printed, max(0, -ran.code))


def _facts(report: Path) -> list[dict[str, Any]] | None:
    # A last line without its end was cut off when the process was stopped.
    lines = report.read_text(encoding="utf-8").split("\n")[:-1] if report.is_file() else []
    try:
        facts = [json.loads(line) for line in lines]
    except ValueError:
        return None
    return facts if all(isinstance(one, dict) for one in facts) else None
