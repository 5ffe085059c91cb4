"""The verdict on a project's own test, from its errors, notes, exit codes, output and launches."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gn_tutorial.diagnostics.findings import Diagnostic, Findings
from gn_tutorial.errors import GntError, KernelTimeout
from gn_tutorial.projects.test_runner.aclnn_calls import OwnTestLaunch
from gn_tutorial.projects.test_runner.find_tests import OwnTest
from gn_tutorial.projects.test_runner.refusals import TooLarge
from gn_tutorial.projects.test_runner.stand_in_tools import Happened
from gn_tutorial.projects.test_runner.test_folder import script_memory
from gn_tutorial.projects.tiling_plan import PlanNote
from gn_tutorial.runtime import write_sandbox
from gn_tutorial.tables import html_table, text_table

PASSED, FAILED, STOPPED, NOT_RUN = "passed", "failed", "stopped", "not run"
HEADERS = ("operator", "inputs", "outputs", "attributes", "blocks", "key", "workspace", "ms")
_SHOWN_LINES = 30
#: Words by which tests report failure. They are looked for before "passed", because a test that prints both has
#: compared several outputs, of which at least one was wrong.
_SAYS_FAILED = re.compile(
    r"(?i:\btest\s*(?:is\s*)?fail(?:ed|ure)?\b|\bfailed!|\bresult error\b|\bverif\w*\s.*\bfail\w*"
    r"|\bcompare\b.*\bfail\w*|\bprecision\b.*\bfail\w*)|^\s*\[ERROR\]|^\s*ERROR\b|^\s*FAIL(?:ED)?\b",
    re.MULTILINE,
)
#: Lines that report no failure although they contain such a word: "failed: 0", "error ratio: 0.0000".
_SAYS_NONE = re.compile(r"\b(?:fail|error|mismatch)\w*\b\D{0,16}\b0(?:\.0+)?%?(?![\w.])", re.IGNORECASE)
_SAYS_PASSED = re.compile(r"\btest\s*pass(?:ed)?\b|\bpass(?:ed)?\b|\bsuccess\w*\b", re.IGNORECASE)
#: Messages of Python, of NumPy, and of programs and libraries in C++ when memory runs out.
_NO_MEMORY = re.compile(r"\bMemoryError\b|\bUnable to allocate\b|\bstd::bad_alloc\b|\b[Cc]annot allocate memory\b")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")


@dataclass(frozen=True, repr=False)
class OwnTestResult:
    """The result of a project's own test.

    verdict: passed; failed; stopped (the test, or a kernel, ran too long); not run (a launch beyond ``most_bytes``, or
    not enough memory). reason: why, in one sentence. said: the line of the test's own output that decided the verdict;
    empty if none did. exit_code: that of run.sh, -1 if the time was over. programs: program -> exit code of its last
    run. findings: warnings of the checkers. notes: on tiling and on the aclnn calls. error: the first error of a
    launch, a build or a program. walls: whether the sandbox kept scripts from writing outside the test's folder.
    """

    verdict: str
    reason: str
    said: str
    exit_code: int
    programs: dict[str, int]
    printed: str
    launches: tuple[OwnTestLaunch, ...]
    findings: Findings
    notes: tuple[PlanNote, ...]
    error: GntError | None
    folder: Path
    seconds: float
    walls: bool

    @property
    def passed(self) -> bool:
        """Whether the verdict is "passed": operators ran, and no exit code, output, error or note reports a failure."""
        return self.verdict == PASSED

    def rows(self) -> list[tuple[str, ...]]:
        """Return the launches as rows below HEADERS."""
        return [
            (
                one.op_type,
                ", ".join(f"{name} {dtype}{list(shape)}" for name, dtype, shape in one.inputs),
                ", ".join(f"{name} {dtype}{list(shape)}" for name, dtype, shape in one.outputs),
                ", ".join(f"{name}={value!r}" for name, value in one.attributes),
                str(one.blocks),
                str(one.tiling_key),
                f"{one.workspace:,}",
                f"{one.seconds * 1e3:.1f}",
            )
            for one in self.launches
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "said": self.said,
            "exit_code": self.exit_code,
            "programs": self.programs,
            "folder": str(self.folder),
            "seconds": self.seconds,
            "walls": self.walls,
            "launches": [dict(zip(HEADERS, row, strict=True)) for row in self.rows()],
            "findings": self.findings.to_list(),
            "notes": [str(one) for one in self.notes],
            "error": str(self.error) if self.error else "",
            "printed": self.printed,
        }

    def __repr__(self) -> str:
        lines = [f"{self.verdict}: {self.reason}", f"  test: {self.folder}"]
        printed = self.printed.rstrip().splitlines()
        if len(printed) > _SHOWN_LINES:
            printed = [f"... {len(printed) - _SHOWN_LINES} lines before", *printed[-_SHOWN_LINES:]]
        lines += [f"  | {line}" for line in printed]
        if self.launches:
            lines.append(text_table(HEADERS, self.rows(), indent="  "))
        lines += [str(one) for one in self.notes]
        if self.findings:
            lines.append(self.findings.render())
        if self.error is not None:
            lines.append(str(self.error))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        facts = [("verdict", self.verdict), ("reason", self.reason), ("test", str(self.folder))]
        facts += [("note", str(one)) for one in self.notes]
        if self.error is not None:
            facts.append(("error", str(self.error)))
        return html_table((), facts, caption="own test") + html_table(HEADERS, self.rows())


def judged(
    test: OwnTest, code: int | None, printed: str, happened: Happened, took: float, seconds: float
) -> OwnTestResult:
    """Return the test's result.

    code: the exit code of run.sh, None if the time was over. took: the seconds that the test ran. seconds: the limit.
    """
    errors = happened.errors
    verdict, reason, said = _verdict(code, printed, happened, seconds)
    return OwnTestResult(
        verdict=verdict,
        reason=reason,
        said=said,
        exit_code=-1 if code is None else code,
        programs=happened.programs,
        printed=printed,
        launches=tuple(happened.launches),
        findings=Findings(_all_findings(happened)),
        notes=tuple(happened.notes),
        error=errors[0] if errors else None,
        folder=test.folder,
        seconds=took,
        walls=write_sandbox.landlock_version() > 0,
    )


def _all_findings(happened: Happened) -> Iterator[Diagnostic]:
    yield from happened.findings
    for one in happened.launches:
        yield from one.diagnostics


def _verdict(code: int | None, printed: str, happened: Happened, seconds: float) -> tuple[str, str, str]:
    """Return the verdict, its reason, and the line of the output that decided it; "" if none did."""
    for error in happened.errors:
        if isinstance(error, TooLarge):
            return NOT_RUN, error.what, ""
        if isinstance(error, KernelTimeout):
            return STOPPED, error.what, ""
    if code is None:
        return STOPPED, f"it had not ended after {seconds:g} s", ""
    if happened.errors:
        return FAILED, happened.errors[0].what, ""
    refused = next((one for one in happened.notes if one.severity == "error"), None)
    if refused is not None:
        return FAILED, refused.what, ""
    if absent := _NO_MODULE.search(printed):
        module = absent[1].partition(".")[0]
        how = (
            "./gnt torch installs it"
            if module == "torch"
            else f"install it: {Path(sys.executable).name} -m pip install {module}"
        )
        return FAILED, f"a script imports {module}, which this Python does not have; {how}", absent[0]
    if memory := _line_of(_NO_MEMORY, printed):
        room = f"{script_memory() / 2**30:.3g} GiB, three quarters of this machine's memory and at least 4"
        return NOT_RUN, f"a script needs more memory than it has here ({room}): a smaller case, or more memory", memory
    failing = _line_of(_SAYS_FAILED, printed, besides=_SAYS_NONE)
    if code != 0:
        return FAILED, f"it ended with exit code {code}" + (f": {failing}" if failing else ""), failing
    if failing:
        return FAILED, f"it says so: {failing}", failing
    ended = next(((name, one) for name, one in happened.programs.items() if one != 0), None)
    if ended is not None:
        return FAILED, f"{ended[0]} ended with exit code {ended[1]}, which the test did not look at", ""
    if not happened.launches:
        return FAILED, "it ended well and launched no operator", ""
    passing = _line_of(_SAYS_PASSED, printed)
    return PASSED, f"it says so: {passing}" if passing else "it ended with exit code 0; it prints no verdict", passing


def _line_of(pattern: re.Pattern[str], text: str, besides: re.Pattern[str] | None = None) -> str:
    """Return the last line that ``pattern`` matches and ``besides`` does not; empty if there is none."""
    found = (one.strip() for one in reversed(text.splitlines()) if pattern.search(one))
    return next((one for one in found if besides is None or not besides.search(one)), "")
