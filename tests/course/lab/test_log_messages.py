"""The server's log, in our words: a kernel that died, a full disk; and nothing for the rest."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from gn_tutorial.course.lab import log_messages

STAMP = "2026-01-01 10:00:00.123"


def told(event: str, code: object, notebook: str = "/ada/my_course/notebooks/03_scalar_kernel.ipynb") -> str:
    return f'[W {STAMP} ServerApp] gnt-kernel {{"event": "{event}", "notebook": "{notebook}", "code": {code}}}'


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        (-signal.SIGKILL, "memory ran out"),
        (-signal.SIGSEGV, r"it crashed \(SIGSEGV\)"),
        (7, "it ended with the exit code 7"),
        (0, "it ended with the exit code 0"),
        ("null", "it ended without a word"),
        (-signal.SIGTERM, "it ended with the exit code -15"),
    ],
)
def test_a_death_says_whose_why_and_what_to_do(code: object, cause: str) -> None:
    dead = log_messages.death_in(told("restart", code))
    assert dead
    first, *rest = dead.lines()
    assert first.startswith("the Python of 03_scalar_kernel.ipynb died: ")
    assert re.search(cause, first)
    assert "Run > Run All Above Selected Cell" in " ".join(rest)


def test_a_kernel_that_dies_again_and_again() -> None:
    dead = log_messages.death_in(told("dead", 1))
    assert dead
    assert "several times in a row" in dead.lines()[0]
    assert "gnt doctor" in dead.lines()[1]


def test_a_server_that_does_not_know_whose_kernel_it_was() -> None:
    dead = log_messages.death_in(told("restart", "null", ""))
    assert dead
    assert dead.lines()[0] == "the Python of a notebook died: it ended without a word."


def test_a_note_is_taken_once_and_by_its_notebook(tmp_path: Path) -> None:
    dead = log_messages.death_in(told("restart", -9))
    assert dead
    dead.note(tmp_path / "deaths")
    assert log_messages.take_note(tmp_path / "deaths", dead.notebook.with_name("04_tiling.ipynb")) == []
    assert log_messages.take_note(tmp_path / "deaths", dead.notebook) == dead.lines()
    assert log_messages.take_note(tmp_path / "deaths", dead.notebook) == []
    assert log_messages.take_note(tmp_path / "absent", dead.notebook) == []


@pytest.mark.parametrize(
    "line",
    [
        f"[I {STAMP} ServerApp] Kernel started: 3e4345f7-55f0-4cea-842e-e80fd4296997",
        f"[I {STAMP} ServerApp] AsyncIOLoopKernelRestarter: restarting kernel (1/5), new random ports",
        "[IPKernelApp] WARNING | Kernel is running over TCP without encryption.",
        f"[W {STAMP} ServerApp] 404 GET /api/contents/absent (127.0.0.1) 2.10ms",
        "",
    ],
)
def test_other_lines_stay_in_the_log(line: str) -> None:
    assert log_messages.death_in(line) is None
    assert log_messages.in_our_words(line) == []


def test_a_full_disk_and_a_file_that_may_not_be_written() -> None:
    full = f"[E {STAMP} ServerApp] Unexpected error while saving file: a.ipynb [Errno 28] No space left on device"
    assert "free some space" in log_messages.in_our_words(full)[0]
    refused = f"[W {STAMP} ServerApp] Permission denied: notebooks/a.ipynb"
    assert log_messages.in_our_words(refused) == [
        "JupyterLab may not write a file: Permission denied: notebooks/a.ipynb"
    ]
    assert "ipykernel" in log_messages.in_our_words("/usr/bin/python: No module named ipykernel_launcher")[0]


def test_the_end_of_a_log(tmp_path: Path) -> None:
    said = log_messages.ended_early(1, [str(number) for number in range(20)], tmp_path / "lab.log")
    assert said.splitlines()[0] == f"its last lines ({tmp_path / 'lab.log'}, exit code 1):"
    assert said.splitlines()[1:] == [f"  {number}" for number in range(14, 20)]
