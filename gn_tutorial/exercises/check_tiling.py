"""Checks a tiling function: a C++ header that fills a struct, called in a process of its own for many shapes."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.exercises.attempt_job import JobReport, run_job
from gn_tutorial.exercises.attempt_process import by_itself
from gn_tutorial.exercises.verdict import Verdict
from gn_tutorial.runtime.deadline import Ran

#: A compilation with the ziglang wheel takes 40 s the first time.
_COMPILE_SECONDS = 180.0
_COMMAND = (sys.executable, "-P", "-m", "gn_tutorial.exercises.tiling_child")


@dataclass(frozen=True)
class TilingCase:
    """One call. expected: every field of the struct, or None where the function must refuse.

    why: it must refuse; or, where it must not, what a refusal overlooks.
    """

    label: str
    arguments: Mapping[str, int]
    expected: Mapping[str, int] | None
    why: str = ""


#: Looks at the fields that came back and recognises a mistake, in words; None if it is not this one.
Symptom = Callable[[TilingCase, Mapping[str, int]], str | None]


@dataclass(frozen=True)
class TilingChecker:
    """As KernelChecker, for ``const char* function(arguments..., struct*)`` in a header.

    demands: asked where the expected fields are right; what no single number can say, for example that a tile is fast.
    """

    struct: str
    function: str
    arguments: tuple[str, ...]
    cases: Callable[[np.random.Generator], Sequence[TilingCase]]
    symptoms: tuple[Symptom, ...] = ()
    demands: tuple[Symptom, ...] = ()
    seconds: float = 5.0

    def check(self, path: Path, seed: int) -> Verdict | int:
        """The first thing that is wrong, or the number of cases if all is right."""
        cases = self.cases(np.random.default_rng(seed))
        # The compilation may be slow and the calls may not, so they have a limit each.
        compiled = self._run(path, (), _COMPILE_SECONDS)
        match compiled.facts:
            case [{"compiled": True}]:
                pass
            case [{"broken": what, "detail": detail}]:
                return Verdict(f"the header does not work: {what}", where=path.name, detail=detail)
            case _:
                return Verdict(f"the header {_ended(compiled)}", where=path.name, detail=compiled.printed)
        ran = self._run(path, cases, self.seconds)
        facts = (ran.facts or [])[1:]
        for number, case in enumerate(cases):
            if number >= len(facts):
                return Verdict(f"{self.function} {_ended(ran)}", case.label, path.name, ran.printed)
            text = self._judge(case, facts[number])
            if text:
                return Verdict(text, case.label)
        return len(cases)

    def _run(self, path: Path, cases: Sequence[TilingCase], seconds: float) -> JobReport:
        job = {
            "header": str(path.resolve()),
            "struct": self.struct,
            "function": self.function,
            "arguments": self.arguments,
            "calls": [dict(case.arguments) for case in cases],
        }
        with tempfile.TemporaryDirectory(prefix="gnt-tiling-") as folder:
            return run_job(_in_python, seconds, Path(folder), job)

    def _judge(self, case: TilingCase, fact: Mapping[str, Any]) -> str:
        if "refused" in fact:
            if case.expected is None:
                return ""
            why = f": {case.why}" if case.why else ""
            return f"{self.function} refused ({fact['refused']}), but this can be divided{why}"
        got = fact["fields"]
        if case.expected is None:
            return f"{self.function} must refuse this and return a sentence: {case.why}"
        missing = [name for name in case.expected if name not in got]
        if missing:
            return f"the struct has no field {missing[0]}; leave its fields as they were"
        wrong = [name for name, want in case.expected.items() if got[name] != want]
        if not wrong:
            return next((text for demand in self.demands if (text := demand(case, got))), "")
        if not any(got[name] for name in case.expected):
            return f"{self.function} leaves every field at 0"
        for symptom in self.symptoms:
            text = symptom(case, got)
            if text:
                return text
        return f"{wrong[0]} is {got[wrong[0]]}; {case.expected[wrong[0]]} is right"


def _in_python(seconds: float, folder: Path) -> Ran:
    return by_itself(seconds, folder, _COMMAND)


def _ended(report: JobReport) -> str:
    if report.signal:
        return f"crashed (signal {report.signal}): a division by zero, or a wild pointer"
    return report.ended
