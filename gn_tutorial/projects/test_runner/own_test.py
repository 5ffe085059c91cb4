"""Runs a project's own test unchanged: gen_data.py, a program that calls aclnn, verify_result.py, run.sh.

The test works on a copy of the project, with a HOME of its own. bash runs run.sh, and this Python runs the Python
scripts, both inside ``runtime/write_sandbox``, whose docstring says what each platform can enforce. On Linux with
Landlock the scripts cannot write outside the test's temporary folder (``Room``); elsewhere a script that names an
absolute path can. cmake, make and g++ are stand-ins (``stand_in_tools``), which compile the program with the twin's
headers. The program runs in the launcher's sandbox, and does not see variables that run.sh exported. Its aclnn calls
run the project's own tiling and kernel, with all checkers unless the caller turns them off.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.projects.aclnn import headers
from gn_tutorial.projects.definition import snake_name
from gn_tutorial.projects.layout import read_layout
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.test_runner.find_tests import OwnTest, choose_test
from gn_tutorial.projects.test_runner.stand_in_tools import ToolServer
from gn_tutorial.projects.test_runner.test_folder import Room, make_usual_folders, script_memory
from gn_tutorial.projects.test_runner.test_result import OwnTestResult, judged
from gn_tutorial.runtime import write_sandbox

_PRINTED = 4 << 20


def run_own_test(
    path: str | Path,
    test_folder: str | Path | None = None,
    *,
    soc: str = "",
    seconds: float = 300.0,
    observed: bool = True,
    options: TwinOptions | None = None,
    most_bytes: int = 256 << 20,
    told: Callable[[str], None] | None = None,
) -> OwnTestResult:
    """Run the own test of the operator project in ``path`` and return its result.

    test_folder: the test's folder, if the project has several tests or the test lies elsewhere. soc: the chip for
    tiling; if empty, the one that ``project`` chooses. seconds: the limit for the whole test, builds included.
    observed: False launches kernels without checks, which is quicker. most_bytes: the limit for all tensors of one
    launch, 0 for none; a larger launch is not run, and the verdict says so. told: called with a line of text at each
    step; if it is None, the steps are shown if stderr is a terminal.

    A failing test raises nothing; the result reports it. Raises ArgumentError (no project, no test, several tests, an
    operator that the project lacks), CompileError and HostError for host files that cannot be compiled or described,
    and CacheError.
    """
    layout = read_layout(Path(path))
    types = {snake_name(one): one for one in layout.require_operators()}
    test = choose_test(layout.root, list(types), None if test_folder is None else layout.place(Path(test_folder)))
    begin = time.monotonic()
    with _telling(told) as tell, tempfile.TemporaryDirectory(prefix="gnt-test-", ignore_cleanup_errors=True) as name:
        tell("compiling the host files")
        called = [types[one.removeprefix("aclnn_")] for one in test.headers if one.removeprefix("aclnn_") in types]
        projects = {one: Project(layout.named, op=one, soc=soc) for one in called}
        room = Room(Path(name))
        room.fill({key: text for one in projects.values() for key, text in headers(one.definition).items()})
        outside = not test.folder.is_relative_to(layout.root)
        copy = room.copy(test.folder if outside else layout.root)
        work = copy if outside else copy / test.folder.relative_to(layout.root)
        make_usual_folders(work)
        deadline = begin + seconds
        with ToolServer(
            room, projects, deadline, observed=observed, options=options, most_bytes=most_bytes, told=tell
        ) as tools:
            tell(f"running {'run.sh' if test.script else 'the test'}")
            code, printed = _run_script(test, work, room, deadline)
        return judged(test, code, printed, tools.happened, time.monotonic() - begin, seconds)


def _run_script(test: OwnTest, work: Path, room: Room, deadline: float) -> tuple[int | None, str]:
    """Run the script of the test. Return its exit code and its output, standard error included.

    The exit code is None if the time was over, and 1 if the script was stopped because it printed too much.
    """
    script = work / "run.sh"
    if test.script is None:
        script = room.root / "usual_steps.sh"
        script.write_text(test.usual_steps())
    words = write_sandbox.command(str(room.root), script_memory(), ["bash", str(script)])
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


@contextlib.contextmanager
def _telling(told: Callable[[str], None] | None) -> Iterator[Callable[[str], None]]:
    """Yield the function that shows a step: ``told``, or one that writes to the terminal, or one that does nothing."""
    if told is not None:
        yield told
    elif not (sys.stderr and sys.stderr.isatty()):
        yield lambda _text: None
    else:
        from rich.console import Console

        with Console(stderr=True).status("the project's own test") as status:
            yield lambda text: status.update(text)
