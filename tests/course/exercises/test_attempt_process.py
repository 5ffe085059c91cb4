"""Attempts as forks: the verdict of a process by itself, the same limits, and no trace of one in the next."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gn_tutorial.course.exercises import attempt_process
from gn_tutorial.course.exercises.attempt_process import CAN_FORK, Forks, Runner, by_itself
from gn_tutorial.course.exercises.check_python import PythonCase, PythonChecker
from gn_tutorial.course.exercises.verdict import Verdict
from gn_tutorial.runtime.deadline import Ran
from gn_tutorial.runtime.write_sandbox import landlock_version

FORKS_ONLY = pytest.mark.skipif(not CAN_FORK, reason="forks are for Linux")
#: How an attempt of these tests gets at modules that the checker does not let it import.
OS = "typing.sys.modules['os']"


def cases(rng: np.random.Generator) -> list[PythonCase]:
    return [PythonCase("two numbers", "double", {"x": (x := rng.uniform(1, 2, 2))}, {"y": 2 * x})]


CHECKER = PythonChecker(cases, 1e-9, 0, seconds=60)


def judged(tmp_path: Path, run: Runner, body: str, checker: PythonChecker = CHECKER) -> Verdict | int:
    path = tmp_path / "double.py"
    path.write_text(
        f"import math\nimport typing\nimport numpy as np\n\n\ndef double(x):\n    {body}\n    return 2 * x\n"
    )
    return replace(checker, run=run).check(path, 1)


def said(found: Verdict | int) -> str:
    assert isinstance(found, Verdict)
    return found.message


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks(()) as made:
        yield made


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return x", "y.ravel()[0] is "),
        ("x += 1", "double changed its argument x"),
        ("1 / 0", "double raised ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "double raised SystemExit"),
        (f"print('so far', flush=True); {OS}._exit(3)", "double ended its process (exit code 3)"),
        (f"{OS}.kill({OS}.getpid(), 9)", "double ended its process (exit code -9)"),
        ("np.ones(1 << 30)", "double raised MemoryError"),
        (f"{OS}.write(1, bytes(65 << 20)); {OS}.write(1, bytes(1))", "double raised OSError: [Errno 27]"),
        ("import scipy", "scipy has the finished function"),
        ("typing.sys.modules['gn_tutorial'].reference", "double raised AttributeError: 'NoneType'"),
        ("print(typing.sys.stdin.read())", ""),
        ("typing.sys.stdout = None", ""),
        ("typing.sys.modules['threading'].Thread(target=lambda: [0 for _ in iter(int, 1)]).start()", ""),
    ],
)
def test_a_fork_has_the_verdict_of_a_process_by_itself(tmp_path: Path, forks: Forks, body: str, message: str) -> None:
    found = judged(tmp_path, forks.run, body)
    assert found == judged(tmp_path, by_itself, body)
    assert message in said(found) if message else found == 1
    if "so far" in body:
        assert isinstance(found, Verdict)
        assert found.detail == "so far"


@pytest.mark.parametrize("run", ["fork", pytest.param("by itself", marks=pytest.mark.thorough)])
def test_the_limit_of_time_holds_and_the_next_attempt_is_judged(tmp_path: Path, forks: Forks, run: str) -> None:
    runner = forks.run if run == "fork" else by_itself
    processes: list[int] = []

    def noting(seconds: float, folder: Path) -> Ran:
        ran = runner(seconds, folder)
        processes.append(int((folder / "printed").read_text()))
        return ran

    endless = f"print({OS}.getpid(), flush=True)\n    while True: y = x + 0"
    limit = 2 if run == "fork" else 4  # a process by itself first imports NumPy
    found = judged(tmp_path, noting, endless, replace(CHECKER, seconds=limit))
    assert said(found) == f"double ran longer than {limit} s and was stopped: look for a loop that never ends"
    with pytest.raises(ProcessLookupError):
        os.kill(processes[0], 0)
    assert judged(tmp_path, runner, "") == 1


# Everything at once that an attempt could leave behind, and what the next one sees of it.
LEFT = (
    "math.pi = 3; np.add = int; np.random.seed(7); typing.sys.modules['builtins'].sorted = None; "
    f"typing.sys.modules['scipy'] = math; {OS}.chdir('/'); {OS}.environ['GNT_LEFT'] = '1'"
)
SEEN = (
    "raise ValueError((math.pi, np.add.__name__, np.random.get_state()[1][0] == 7, sorted([2, 1]), "
    f"typing.sys.modules['scipy'], {OS}.getcwd(), {OS}.environ.get('GNT_LEFT')))"
)


@FORKS_ONLY
@pytest.mark.parametrize(
    "body",
    [LEFT, f"{OS}._exit(0)", f"{OS}.kill({OS}.getppid(), 9)", f"{OS}.kill({OS}.getppid(), 19)"],
    ids=["leaves a lot", "ends its process", "ends its parent", "stops its parent"],
)
def test_an_attempt_cannot_disturb_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: Forks, body: str
) -> None:
    monkeypatch.setattr(attempt_process, "_END_SECONDS", 0.5)  # for a parent that stands still
    before = said(judged(tmp_path, forks.run, SEEN))
    assert "(3.14" in before
    judged(tmp_path, forks.run, body, replace(CHECKER, seconds=1))
    assert said(judged(tmp_path, forks.run, SEEN)) == before
    assert judged(tmp_path, forks.run, "") == 1


@pytest.mark.skipif(landlock_version() < 6, reason="needs Landlock with signals, of Linux 6.12")
@pytest.mark.parametrize("run", ["fork", "by itself"])
def test_an_attempt_writes_and_signals_nothing_outside_its_folder(tmp_path: Path, forks: Forks, run: str) -> None:
    kept = tmp_path / "kept"
    kept.write_text("kept")
    runner = forks.run if run == "fork" else by_itself
    for body, error in (
        (f"np.save({str(kept)!r}, x)", "PermissionError"),
        (f"{OS}.unlink({str(kept)!r})", "PermissionError"),
        (f"{OS}.rename({str(kept)!r}, {str(tmp_path / 'moved')!r})", "PermissionError"),
        (f"{OS}.mkdir({str(tmp_path / 'made')!r})", "PermissionError"),
        (f"if {OS}.system('echo 1 > {tmp_path}/made 2>&1'): raise ValueError", "ValueError"),
        (f"{OS}.kill({os.getpid()}, 0)", "PermissionError"),
        (f"{OS}.setpriority({OS}.PRIO_PROCESS, {os.getpid()}, 5)", "PermissionError"),
        (f"{OS}.sched_setaffinity({os.getpid()}, {{0}})", "PermissionError"),
    ):
        assert f"double raised {error}" in said(judged(tmp_path, runner, body)), body
    assert sorted(one.name for one in tmp_path.iterdir()) == ["double.py", "kept"]
    assert kept.read_text() == "kept"
    assert judged(tmp_path, runner, f"{OS}.makedirs({OS}.environ['TMPDIR'] + '/own')") == 1


@pytest.mark.parametrize(
    "left",
    ["None", "at.write_bytes(b'PK')", "at.write_bytes(b'PK\\3\\4')", "(at.parent / 'report.jsonl').write_text('{\\n')"],
    ids=["nothing", "two bytes", "half an archive", "no report"],
)
def test_what_cannot_be_read_is_a_finding(tmp_path: Path, left: str) -> None:
    found = judged(tmp_path, by_itself, f"np.savez = lambda at, *made: type(at)(at) and {left}")
    assert "cannot be read: the attempt changed files of the checker" in said(found)


@FORKS_ONLY
def test_settings_of_torch_end_with_their_attempt(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    checker = replace(CHECKER, libraries=("torch",), seconds=60)
    head = "import torch\n    "
    registers = "torch.library.custom_op('exercise::one', lambda x: x, mutates_args=(), schema='(Tensor x) -> Tensor')"
    sets = (
        f"torch.set_default_dtype(torch.float64); torch.set_num_threads(1); torch.set_grad_enabled(False); {registers}"
    )
    reads = "raise ValueError((torch.get_default_dtype(), torch.is_grad_enabled(), torch.initial_seed()))"
    with Forks(("torch",)) as forks:
        before = said(judged(tmp_path, forks.run, head + reads, checker))
        assert "torch.float32, True" in before
        assert judged(tmp_path, forks.run, head + sets, checker) == 1
        assert said(judged(tmp_path, forks.run, head + reads, checker)) == before
        assert judged(tmp_path, forks.run, head + registers, checker) == 1  # a second one of that name would be refused
        found = judged(tmp_path, forks.run, head + "typing.sys.modules['pandas'].DataFrame", checker)
        assert "'NoneType' object has no attribute 'DataFrame'" in said(found)


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that grows by one byte with each import of the package ``counted``, which takes four seconds."""
    (tmp_path / "counted.py").write_text(
        f"import time\nopen({str(tmp_path / 'imports')!r}, 'a').write('1')\ntime.sleep(4)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)  # where the checker looks whether it is installed
    return tmp_path / "imports"


@FORKS_ONLY
def test_a_library_is_imported_once_and_not_in_the_attempt_s_time(tmp_path: Path, counted: Path) -> None:
    checker = replace(CHECKER, libraries=("counted",), seconds=3.5)
    uses = "typing.sys.modules['counted'].time"
    with Forks(("counted",)) as forks:
        assert [judged(tmp_path, forks.run, uses, checker) for _ in range(3)] == [1, 1, 1]
    assert counted.read_text() == "1"


def parent_of(tmp_path: Path, run: Runner) -> int:
    """The process that an attempt says is its parent's."""
    return int(said(judged(tmp_path, run, f"raise ValueError({OS}.getppid())")).rpartition(" ")[2])


@pytest.mark.parametrize("libraries", [(), ("a_library_that_does_not_load",)])
def test_without_a_process_to_fork_from_an_attempt_runs_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, libraries: tuple[str, ...]
) -> None:
    if not libraries:
        monkeypatch.setattr(attempt_process, "CAN_FORK", False)
    with Forks(libraries) as forks:
        assert parent_of(tmp_path, forks.run) == os.getpid()
        assert judged(tmp_path, forks.run, "1 / 0") == judged(tmp_path, by_itself, "1 / 0")


@FORKS_ONLY
def test_all_forks_have_one_parent_which_ends_with_the_block(tmp_path: Path) -> None:
    with Forks(()) as forks:
        parent = parent_of(tmp_path, forks.run)
        assert parent_of(tmp_path, forks.run) == parent != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(parent, 0)


@FORKS_ONLY
def test_an_interruption_ends_the_attempt_and_its_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers: list[int] = []

    class Interrupted(attempt_process.Deadline):
        def left(self, pid: int) -> float:
            status = Path("/proc", str(pid), "status").read_text()
            numbers.extend((int(status.partition("PPid:")[2].split()[0]), pid))
            raise KeyboardInterrupt

    with Forks(()) as forks:
        assert judged(tmp_path, forks.run, "") == 1
        monkeypatch.setattr(attempt_process, "Deadline", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            judged(tmp_path, forks.run, "while True: pass")
        parent, attempt = numbers
        assert parent != os.getpid()
        for one in (parent, attempt):
            with pytest.raises(ProcessLookupError):
                os.kill(one, 0)
