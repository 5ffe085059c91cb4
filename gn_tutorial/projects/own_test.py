"""The own test of an operator project, unchanged: gen_data.py, a program that calls aclnn, verify_result.py, run.sh.

It runs on a copy, with a HOME of its own. run.sh and the Python scripts are run as they are, by bash and this Python,
in the walls of ``gn_tutorial/runtime/walled.py``, whose table says what the platform lets it enforce: on Linux with
Landlock nothing outside the copy is written, elsewhere a script that names an absolute path can. cmake, make and g++
are stand-ins (own_test_tools): the program is compiled with the twin's headers and runs in the launcher's walls; its
aclnn calls run the project's own tiling and kernel, with all checkers. A program does not see what run.sh exported.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.diagnostics.findings import Diagnostic, Findings
from gn_tutorial.errors import GntError, KernelTimeout
from gn_tutorial.projects.aclnn import headers
from gn_tutorial.projects.chips import DEFAULT_SOC
from gn_tutorial.projects.definition import snake_name
from gn_tutorial.projects.layout import read_layout
from gn_tutorial.projects.own_test_calls import OwnTestLaunch
from gn_tutorial.projects.own_test_find import OwnTest, choose_test
from gn_tutorial.projects.own_test_refusals import TooLarge
from gn_tutorial.projects.own_test_room import Room
from gn_tutorial.projects.own_test_tools import Happened, ToolServer
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.tiling_plan import PlanNote
from gn_tutorial.runtime import walled
from gn_tutorial.tables import html_table, text_table

PASSED, FAILED, STOPPED, NOT_RUN = "passed", "failed", "stopped", "not run"
HEADERS = ("operator", "inputs", "outputs", "attributes", "blocks", "key", "workspace", "ms")
#: What a script and all that it starts may fill with data; a test's arrays and NumPy fit.
_MEMORY = 4 << 30
_PRINTED = 4 << 20
_SHOWN_LINES = 30
#: What tests print of themselves. "failed" goes before "passed": a test that prints both compared several outputs.
_SAYS_FAILED = re.compile(
    r"(?i:\btest\s*(?:is\s*)?fail(?:ed|ure)?\b|\bfailed!|\bresult error\b|\bverif\w*\s.*\bfail\w*"
    r"|\bcompare\b.*\bfail\w*|\bprecision\b.*\bfail\w*)|^\s*\[ERROR\]|^\s*ERROR\b|^\s*FAIL(?:ED)?\b",
    re.MULTILINE,
)
#: "failed: 0", "error ratio: 0.0000": a count of none.
_SAYS_NONE = re.compile(r"\b(?:fail|error|mismatch)\w*\b\D{0,16}\b0(?:\.0+)?%?(?![\w.])", re.IGNORECASE)
_SAYS_PASSED = re.compile(r"\btest\s*pass(?:ed)?\b|\bpass(?:ed)?\b|\bsuccess\w*\b", re.IGNORECASE)
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")


@dataclass(frozen=True, repr=False)
class OwnTestResult:
    """What a project's own test said.

    verdict: passed; failed; stopped (its time was over); not run (a launch beyond ``most_bytes``). reason: why, one
    sentence. said: the line of the test's own output that decided. exit_code: of run.sh; programs: exit code by
    program. launches: what was launched. findings: what the checkers warn of; notes: of tiling and of the aclnn calls.
    error: the first error of a launch, a build or a program, with its own text. walls: whether scripts were kept from
    writing elsewhere.
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
        """Whether the test ended well by its own word, and nothing here found a mistake."""
        return self.verdict == PASSED

    def rows(self) -> list[tuple[str, ...]]:
        """The launches, as rows below HEADERS."""
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
        """All of it as plain data."""
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


def run_own_test(
    path: str | Path,
    test_folder: str | Path | None = None,
    *,
    soc: str = DEFAULT_SOC,
    seconds: float = 300.0,
    observed: bool = True,
    options: TwinOptions | None = None,
    most_bytes: int = 256 << 20,
    told: Callable[[str], None] | None = None,
) -> OwnTestResult:
    """Run the own test of the operator project in ``path`` and say what came of it.

    test_folder: the test, where the project has several or it lies elsewhere. soc: the chip that tiling is told of.
    seconds: for the whole test, builds included. observed: False launches kernels without checks, which is quicker.
    most_bytes: tensors of one launch; a larger one is not run, and the verdict says so (0: any size). told: is given a
    line at each step; without it a terminal shows them.

    A test that fails is a result, whatever it died of. Raises ArgumentError (no project, no test, several, an operator
    that the project lacks), CompileError and HostError for host files that cannot be compiled or described, CacheError.
    """
    layout = read_layout(Path(path))
    types = {snake_name(one): one for one in layout.op_types()}
    test = choose_test(layout.root, list(types), None if test_folder is None else Path(test_folder))
    begin = time.monotonic()
    with _telling(told) as tell, tempfile.TemporaryDirectory(prefix="gnt-test-", ignore_cleanup_errors=True) as name:
        tell("compiling the host files")
        called = [types[one.removeprefix("aclnn_")] for one in test.headers if one.removeprefix("aclnn_") in types]
        projects = {one: Project(layout.root, op=one, soc=soc) for one in called}
        room = Room(Path(name))
        room.fill({key: text for one in projects.values() for key, text in headers(one.definition).items()})
        outside = not test.folder.is_relative_to(layout.root)
        copy = room.copy(test.folder if outside else layout.root)
        work = copy if outside else copy / test.folder.relative_to(layout.root)
        deadline = begin + seconds
        with ToolServer(
            room, projects, deadline, observed=observed, options=options, most_bytes=most_bytes, told=tell
        ) as tools:
            tell(f"running {'run.sh' if test.script else 'the test'}")
            code, printed = _run_script(test, work, room, deadline)
        return _result(test, code, printed, tools.happened, time.monotonic() - begin, seconds)


def _run_script(test: OwnTest, work: Path, room: Room, deadline: float) -> tuple[int | None, str]:
    """Exit code (None: its time was over) and what it printed, errors among it."""
    script = work / "run.sh"
    if test.script is None:
        script = room.root / "usual_steps.sh"
        script.write_text(test.usual_steps())
    words = walled.command(str(room.root), _MEMORY, ["bash", str(script)])
    log = room.root / "printed"
    with log.open("wb") as out:
        process = subprocess.Popen(
            words,
            cwd=work,
            env=room.environment(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code: int | None = None
        try:
            while code is None and time.monotonic() < deadline and log.stat().st_size <= _PRINTED:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    code = process.wait(0.1)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    with log.open("rb") as file:
        text = file.read(_PRINTED + 1).decode("utf-8", "replace")
    if len(text) > _PRINTED:
        code, text = 1, text[:_PRINTED] + "\n... stopped: it printed without end\n"
    return code, text.replace(f"{room.copies}{os.sep}", "")


def _result(
    test: OwnTest, code: int | None, printed: str, happened: Happened, took: float, seconds: float
) -> OwnTestResult:
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
        walls=walled.landlock_version() > 0,
    )


def _all_findings(happened: Happened) -> Iterator[Diagnostic]:
    yield from happened.findings
    for one in happened.launches:
        yield from one.diagnostics


def _verdict(code: int | None, printed: str, happened: Happened, seconds: float) -> tuple[str, str, str]:
    """Verdict, reason, and the line that decided."""
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
    """The last line in which the pattern is found, and ``besides`` is not; empty if there is none."""
    found = (one.strip() for one in reversed(text.splitlines()) if pattern.search(one))
    return next((one for one in found if besides is None or not besides.search(one)), "")


@contextlib.contextmanager
def _telling(told: Callable[[str], None] | None) -> Iterator[Callable[[str], None]]:
    """Steps for whoever waits: the caller's function, a line on the terminal, or nobody."""
    if told is not None:
        yield told
    elif not (sys.stderr and sys.stderr.isatty()):
        yield lambda _text: None
    else:
        from rich.console import Console

        with Console(stderr=True).status("the project's own test") as status:
            yield lambda text: status.update(text)
