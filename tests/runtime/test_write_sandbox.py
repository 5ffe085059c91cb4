"""Programs that may write in one folder only."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gn_tutorial.runtime.write_sandbox import command, landlock_version

needs_landlock = pytest.mark.skipif(landlock_version() == 0, reason="the running kernel has no Landlock")


def run(folder: Path, script: str, memory: int = 2 << 30) -> subprocess.CompletedProcess[str]:
    words = command(str(folder), memory, ["bash", "-c", script])
    return subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=120, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "inside"
    made.mkdir()
    return made


def test_it_becomes_the_program(folder: Path) -> None:
    done = run(folder, "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "err\n")


def test_everything_in_the_folder_is_allowed(folder: Path) -> None:
    script = "mkdir -p a/b && echo 1 > a/b/x && mv a/b/x a/y && ln -s y a/z && rm -r a/b && cat a/z"
    script += " && mkfifo p && : > /dev/null"
    done = run(folder, script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


@needs_landlock
@pytest.mark.parametrize(
    "script",
    [
        "echo 1 > ../outside",
        "echo 1 >> ../there",
        "rm ../there",
        "mkdir ../folder",
        "mv ../there .",
        "ln -s .. link && echo 1 > link/outside",
        'exec python3 -c \'open("../outside", "w")\'',
    ],
)
def test_nothing_else_is(folder: Path, script: str) -> None:
    (folder.parent / "there").write_text("kept")
    done = run(folder, script)
    assert done.returncode != 0
    assert "Permission denied" in done.stderr
    assert sorted(one.name for one in folder.parent.iterdir()) == ["inside", "there"]
    assert (folder.parent / "there").read_text() == "kept"


def test_files_elsewhere_can_be_read(folder: Path) -> None:
    (folder.parent / "there").write_text("read")
    assert run(folder, "cat ../there").stdout == "read"


@pytest.mark.skipif(landlock_version() < 6, reason="the running kernel's Landlock knows no signals")
def test_no_signals_to_others(folder: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        done = run(folder, f"kill {other.pid}")
        assert done.returncode != 0
        assert other.poll() is None
        other.send_signal(signal.SIGKILL)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="seccomp is Linux's")
@pytest.mark.parametrize(
    ("call", "refused"),
    [
        ("os.setpriority(os.PRIO_PROCESS, {other}, 5)", True),
        ("os.setpriority(os.PRIO_USER, 0, 5)", True),
        ("os.sched_setaffinity({other}, {{0}})", True),
        ("os.sched_setscheduler({other}, os.SCHED_BATCH, os.sched_param(0))", True),
        ("os.sched_setparam({other}, os.sched_param(0))", True),
        ("os.system('renice -n 5 -p {other} > renice.txt') and os.abort()", True),
        ("os.nice(1)", False),
        ("os.sched_setaffinity(0, os.sched_getaffinity(0))", False),
    ],
)
def test_the_scheduling_of_others_stays(folder: Path, call: str, refused: bool) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        before = os.getpriority(os.PRIO_PROCESS, other.pid), os.sched_getaffinity(other.pid)
        done = run(folder, f'exec python3 -c "import os; {call.format(other=other.pid)}"')
        after = os.getpriority(os.PRIO_PROCESS, other.pid), os.sched_getaffinity(other.pid)
        other.kill()
    assert (done.returncode != 0) == refused, done.stderr
    assert "PermissionError" in done.stderr or "renice" in call or not refused
    assert after == before


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the system does not limit data")
def test_memory_has_a_limit(folder: Path) -> None:
    done = run(folder, "python3 -c 'bytearray(1 << 30)'", memory=256 << 20)
    assert done.returncode != 0
    assert "MemoryError" in done.stderr
