"""The protocol between a checker and the child process that runs an attempt: one folder, a job and a report.

``job.json`` goes in, beside whatever files it names. ``report.jsonl`` comes out: one object of JSON a line, each
written whole before the next call, so that a loop without end leaves a trace. What the child prints is in ``printed``.
The child's side is ``attempt_child.read_job`` and ``attempt_child.report``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gn_tutorial.runtime.deadline import Ran

_SHOWN_BYTES, _SHOWN_LINES = 2000, 8

#: Runs the job of a folder for at most so many seconds.
Runner = Callable[[float, Path], Ran]


@dataclass(frozen=True)
class JobReport:
    """What came back. facts: one for each call that was answered, None if the report cannot be read.

    ended: why there are no more, as the end of a sentence about the attempt. printed: the last lines, if the process
    ended by itself. signal: that ended it, or 0.
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
