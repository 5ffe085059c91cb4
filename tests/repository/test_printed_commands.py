"""Every line for a terminal that a page or a notebook prints, run as it is printed.

A line may name what a reader has: my.cpp, SinhCustom, sample.asc. They are made here. Lines with words in capitals
(FILE, NAME) are patterns, and only their commands and options are looked up.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Gnt
from sinh_project import write_sinh_project
from typer.main import get_command
from walk_project import write_second_tiling, write_walk_project

from gn_tutorial.cli import app
from tests.runtime.test_sample_run import GOOD, SAMPLE

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
#: What the script of a clone does before any Python: set-up, and what takes its words elsewhere.
OF_THE_CLONE = {"test", "torch", "lint", "commands", "site"}
#: Commands that wait for somebody, or that would change what is beside this clone: their words are only looked up.
LOOKED_UP = {
    "learn --watch": "waits for a file to change",
    "learn solution": "shows it behind a pass: tests/course/exercises/test_learn.py",
    "lab": "serves until it is stopped: tests/course/lab",
    "lab 03 --reset": "the same",
    "run exercises/05_double_buffer/05_3_flags.cpp --blocks 1 --arg 'x=float32[5000]' --out 'y=float32[5000]' "
    "--arg n=5000 --plot finding.png": "ends with the finding that it draws: test_front",
    "ide FOLDER": "writes an editor's settings",
    "run my_softmax --shape 37,300": "what a start computes is wrong, and says so: tests/cli/test_new.py",
    "profile my_softmax --shape 4096,2048": "the same",
    "profile my_softmax --shape 65536,128": "the same",
    "bench my_softmax": "the whole grid, and wrong: the same tests",
    "grade my_softmax": "does not pass before it is written: the same tests",
    "exam start log_cosh": "makes a folder and starts a clock: tests/cli/test_exam_task.py",
    "exam status": "needs a task that was begun: the same",
    "exam check": "the same",
    "exam submit": "the same",
    "exam report": "the same",
    "exam solution log_cosh Folder": "the same",
    "exam theory": "asks until it is handed in: tests/cli/test_exam.py",
    "exam theory --topic tiling --topic host": "the same",
    "exam theory --untimed --count 10": "the same",
    "exam theory --review": "needs a paper that was handed in: the same tests",
    "judge camp": "needs a class: tests/cli/test_class.py, tests/course/classroom",
    "judge camp --scheduler tcp://10.0.0.5:8786": "the same, and a scheduler",
    "progress export": "reads the learner's own files: tests/cli/test_class.py",
    "class report handed-in": "needs what learners hand in: the same",
    "class report handed-in --csv class.csv --plot class.png": "the same",
    "cache clear": "removes the kernels of the other tests",
    "project new half_swish.json HalfSwish --layout 8.x": "stands there already: test_project_walk",
}
#: What takes minutes, by how the line begins or as a whole, and what runs it instead.
LONG = {
    r"bench": "the whole grid: tests/profiler/bench, on a part of it",
    r"bench --(out|kind|kernel) .*": "the grid, or its large shapes",
    r"bench group_norm_backward --kernel any": "the grid of the backward pass",
    r"tour": "tests/cli/test_tour.py, and CI",
    r"doctor": "tests/cli/test_doctor.py",
    r"project fuzz .*": "goes on for a minute: tests/cli/test_project_fuzz.py",
    r"dev calibrate": "tests/timing",
    r"dev host-library": "tests/host",
    r"dev playground.*": "needs what npm fetches, and compiles for a minute: tests/course/playground",
    r"dev npu --build.*": "needs CANN",
    r"npu verify": "needs an NPU: tests/host/verify, over a stand-in",
}
#: Checks of the other exercises differ in nothing that a line could have wrong; tests/course/exercises runs them.
SHORT_EXERCISES = ("learn --exercise 01.1", "learn --exercise 05.1", "learn check 05.3 --strict --waits explicit")
#: Benchmarks, the host API with every kernel at -O3, projects compiled once more: other tests run their parts.
DEAR = {
    "bench swiglu",
    "bench linear_gelu",
    "bench linear_gelu_backward",
    'bench SinhCustom --in "float16[8,n]" --over n=100,2048',
    "dev host-library my_folder",
    'diff SinhCustom SinhTiled --in "float16[8,2048]"',
    'tune SinhCustom --in "float16[8,2048]" --field tileLength',
    "tune group_norm/vectorised --shape 8,32,64,64 --groups 8 --plot tune.png",
    "project show HalfSwish",
    "project test HalfSwish",
    "run sample.asc -D SCENARIO_NUM=2",
}
_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
_SHELLS = ("", "sh", "shell", "bash", "console")
_INLINE = re.compile(r"`((?:\./)?gnt [^`]+)`")
_PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b(?!\.)|\bNN\b|\.\.\.| P\b| f$")


def printed(text: str) -> Iterator[str]:
    """The lines of a page for a terminal, without their comments and ``./``."""
    for language, block in _FENCE.findall(text):
        yield from (line.strip() for line in block.splitlines() if language in _SHELLS)
    rest = _FENCE.sub("", text)
    yield from (" ".join(line.split()) for line in _INLINE.findall(rest))
    yield from (line.strip() for line in rest.splitlines() if re.match(r" {4}(?:\./)?gnt ", line))


def lines_of_everything() -> list[str]:
    """Every different line, as its words after gnt."""
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    found = (match[1] for text in texts for line in printed(text) if (match := re.match(r"(?:\./)?gnt (.*)", line)))
    lines = dict.fromkeys(re.sub(r"\s+#.*| \\$| > \S+$", "", line).strip() for line in found)
    return [line for line in lines if line.split()[0] not in OF_THE_CLONE]


LINES = lines_of_everything()
# Made once, and not as app.app: with that in the module every line below would make all commands ready anew.
COMMANDS: Any = get_command(app.make_app())


def is_pattern(line: str) -> bool:
    """Whether a reader has to put a word of his own in, or the line only names a command and its options."""
    return bool(_PLACEHOLDER.search(line)) or line in LOOKED_UP


def is_long(line: str) -> bool:
    """Whether the line takes minutes."""
    return any(re.fullmatch(key, line) for key in LONG)


def command_of(line: str) -> tuple[Any, list[str]]:
    """The command or the group of commands that a line names, and the words behind it."""
    found, words = COMMANDS, shlex.split(line)
    while words and words[0] in getattr(found, "commands", {}):
        found = found.commands[words.pop(0)]
    return found, words


def test_there_are_lines_and_the_lists_are_not_stale() -> None:
    assert len(LINES) > 80
    assert {key for key in LOOKED_UP if key not in LINES} == set()
    assert {key for key in LONG if not any(re.fullmatch(key, line) for line in LINES)} == set()
    assert {*SHORT_EXERCISES, *DEAR} <= set(LINES)


@pytest.mark.parametrize("line", LINES)
def test_commands_and_options_are_there(line: str) -> None:
    command, words = command_of(line)
    assert not hasattr(command, "commands") or not words or words[0].startswith("-"), f"{line}: no such command"
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | {"--help"}
    assert {word.split("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)} <= known


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the lines name. One for all of them, so that a project is compiled once."""
    folder = tmp_path_factory.mktemp("clone")
    shutil.copy(ROOT / "kernels" / "add" / "add.cpp", folder / "my.cpp")
    (folder / "kernels").symlink_to(ROOT / "kernels")
    (folder / "work").mkdir()
    for name in ("SinhCustom", "SinhTiled"):
        write_sinh_project(folder / name)
    write_second_tiling(write_walk_project(folder))
    sample = SAMPLE
    for name, value in GOOD.items():
        sample = sample.replace(name, value)
    (folder / "sample.asc").write_text(sample)
    return folder


@pytest.fixture
def reader(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gnt: Gnt) -> None:
    """Where a reader runs the lines: in that folder, with exercises and progress of his own."""
    monkeypatch.chdir(clone)
    monkeypatch.setenv("GNT_EXERCISES_DIR", str(tmp_path / "mine"))
    monkeypatch.setenv("GNT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr("sys.stdin", io.StringIO())  # a quiz asks, and stops where nobody answers
    if not (clone / "bench.json").exists():  # what lines before these would have written
        gnt("bench", "add", "--shape", "33", "--out", "bench.json")
        (clone / "prototype.json").write_text(gnt("dev", "prototype", "group_norm").out)


#: Exit codes of a line that does what it says: an exercise that nobody has solved yet is no mistake in the line.
MAY_BE_1 = "learn"


def only_names(line: str) -> bool:
    """Whether the line names a command, or one of its options, and leaves out what the command needs."""
    command, words = command_of(line)
    if hasattr(command, "commands"):
        return True
    needed = [one for one in command.params if one.required]
    valued = {name for one in command.params if not getattr(one, "is_flag", True) for name in one.opts}
    return bool(needed and not [word for word in words if not word.startswith("-")] and "--help" not in words) or (
        bool(words) and words[-1] in valued
    )


def lines_to_run() -> Iterator[Any]:
    """The lines; checks of most exercises, and the dear ones, are left to --all."""
    for line in LINES:
        if is_pattern(line) or is_long(line) or only_names(line):
            continue
        left = line in DEAR or (line.startswith("learn --exercise") and line not in SHORT_EXERCISES)
        yield pytest.param(line, marks=pytest.mark.thorough) if left else line


@pytest.mark.parametrize("line", list(lines_to_run()))
@pytest.mark.usefixtures("reader")
def test_lines_run_as_they_are_printed(gnt: Gnt, line: str) -> None:
    ran = gnt(*shlex.split(line))
    assert ran.code in ((0, 1) if line.startswith(MAY_BE_1) else (0,)), ran.err
    assert "Traceback" not in ran.err
