"""``gnt learn``, ``gnt dev exercise`` and ``gnt quiz``, through their own main, and the learner's folder."""

from __future__ import annotations

import io
import json
import os
import re
import select
import shutil
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gn_tutorial.cli import app
from gn_tutorial.cli.learn_session import Learner
from gn_tutorial.cli.watched_keys import SAVED, saves_and_keys
from gn_tutorial.compiler.toolchain import find_compiler
from gn_tutorial.course.exercises import workspace as learner_files
from gn_tutorial.course.exercises.grade import grade
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.exercises.workspace import Workspace, default_folder
from gn_tutorial.course.migrations import former_files
from gn_tutorial.course.progress import ProgressFile
from gn_tutorial.errors import ArgumentError

COURSE = load_course()
FIRST, SECOND = COURSE.exercises[:2]


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GNT_EXERCISES_DIR", str(tmp_path / "mine"))
    monkeypatch.setenv("GNT_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "mine"


@pytest.fixture
def gnt(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], folder: Path) -> Callable[..., Ran]:
    vars(app).pop("app", None)  # left by an earlier test: each run would make all commands ready

    def run(*words: object, typed: str = "") -> Ran:
        monkeypatch.setattr(sys, "argv", ["gnt", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as caught:
            app.main()
        return Ran(caught.value.code or 0, *capfd.readouterr())

    return run


def solve(folder: Path, exercise: Any) -> None:
    target = folder / exercise.file
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(exercise.solution, target)


def test_learn_begins_fails_passes_and_goes_on(gnt: Callable[..., Ran], folder: Path) -> None:
    begun = gnt("learn")
    assert begun.code == 0
    assert f"{FIRST.id}: not attempted yet" in begun.out
    assert (folder / FIRST.file).read_bytes() == FIRST.stub.read_bytes()
    (folder / FIRST.file).write_text(FIRST.stub.read_text() + "\n")
    failed = gnt("learn")
    assert failed.code == 1
    assert f"gnt learn hint {FIRST.id}" in failed.out
    assert FIRST.section in failed.out
    solve(folder, FIRST)
    passed = gnt("learn", "check", FIRST.id)
    assert passed.code == 0
    assert f"next: {SECOND.id}" in passed.out
    assert f"{SECOND.id} {SECOND.title}" in gnt("learn").out


def test_explicit_waits_refuse_what_counts_on_the_waits_of_the_compiler(gnt: Callable[..., Ran], folder: Path) -> None:
    exercise = next(one for one in COURSE if one.id == "03.1")
    solve(folder, exercise)
    assert gnt("learn", "check", exercise.id, "--strict", "--waits", "explicit").code == 0
    target = folder / exercise.file
    text = target.read_text(encoding="utf-8")
    target.write_text(text.replace("    Sync<AscendC::HardEvent::S_MTE3>();\n", ""), encoding="utf-8")
    assert target.read_text(encoding="utf-8") != text
    assert gnt("learn", "check", exercise.id).code == 0
    explicit = gnt("learn", "check", exercise.id, "--waits", "explicit")
    assert explicit.code != 0
    assert "PIPE_MTE3 reads by" in explicit.out
    assert "counts on the waits" not in explicit.out


def test_a_check_of_explicit_waits_says_where_those_of_the_compiler_stay(gnt: Callable[..., Ran], folder: Path) -> None:
    exercise = next(one for one in COURSE if one.id == "13.1")
    solve(folder, exercise)
    said = "this exercise counts on the waits that the compiler puts in: a missing one is not checked"
    assert said in gnt("learn", "check", exercise.id, "--waits", "explicit").out
    assert said not in gnt("learn", "check", exercise.id, "--strict").out


def test_after_a_pass_comes_the_one_behind_it_and_not_the_first_that_was_left_out(
    gnt: Callable[..., Ran], folder: Path
) -> None:
    short = COURSE.find("05.1")
    behind = COURSE.exercises[COURSE.exercises.index(short) + 1]
    for exercise, following in ((short, behind), (COURSE.exercises[-1], FIRST)):
        solve(folder, exercise)
        assert f"next: {following.id}" in gnt("learn", "check", exercise.id).out
    assert f"{FIRST.id} {FIRST.title}" in gnt("learn").out


def test_hints_come_one_after_the_other(gnt: Callable[..., Ran]) -> None:
    for level in (1, 2, 3, 3):
        assert FIRST.hints[level - 1] in gnt("learn", "hint").out
    assert FIRST.hints[0] in gnt("learn", "hint", FIRST.id, "--level", 1).out
    assert gnt("learn", "hint", "--level", 4).code == 2


def test_reset_asks_and_keeps_a_backup(gnt: Callable[..., Ran], folder: Path) -> None:
    path = folder / FIRST.file
    path.parent.mkdir(parents=True)
    for number, text in enumerate(("mine", "mine too"), 1):
        path.write_text(text)
        assert "nothing was changed" in gnt("learn", "reset", FIRST.id, typed="n\n").out
        assert path.read_text() == text
        assert gnt("learn", "reset", FIRST.id, typed="y\n").code == 0
        assert path.read_bytes() == FIRST.stub.read_bytes()
        assert path.with_name(f"{path.name}.backup{number}").read_text() == text
    path.write_text("third")
    assert "backup3" in gnt("learn", "reset", FIRST.id, "--yes").out


def test_solution_after_a_pass_or_on_request(gnt: Callable[..., Ran], folder: Path) -> None:
    text = SECOND.solution.read_text()
    refused = gnt("learn", "solution", SECOND.id)
    assert refused.code == 2
    assert "--now" in refused.err
    assert text not in refused.out
    assert text in gnt("learn", "solution", SECOND.id, "--now").out
    solve(folder, SECOND)
    assert gnt("learn", "check", SECOND.id).code == 0
    assert text in gnt("learn", "solution", SECOND.id).out


def test_list_and_a_damaged_progress_file(gnt: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "progress.json").write_text("{")
    ran = gnt("learn", "list")
    assert ran.code == 0
    assert "progress file is damaged" in ran.err
    assert all(exercise.title in ran.out for exercise in COURSE)


def test_authors_commands(gnt: Callable[..., Ran]) -> None:
    listed = gnt("dev", "exercise", "list").out
    assert all(exercise.title in listed for exercise in COURSE)
    ran = gnt("dev", "exercise", "check", "10.4")  # compiles and starts nothing: test_author_check.py has all kinds
    assert ran.code == 0
    assert "10.4 Which mistake?: ok" in ran.out
    unknown = gnt("dev", "exercise", "check", "9.9")
    assert unknown.code == 2
    assert "no exercise '9.9'" in unknown.err


def test_quiz_in_the_terminal(gnt: Callable[..., Ran]) -> None:
    assert "5 of 5 right" in gnt("quiz", "00", typed="b\nc\na\nc\nb\n").out
    stopped = gnt("quiz", "00", typed="b\n")
    assert stopped.code == 0
    assert "stopped before the end" in stopped.err
    assert gnt("quiz", "99").code == 2


def test_quizzes_are_scored_and_the_list_has_the_score(gnt: Callable[..., Ran], tmp_path: Path) -> None:
    gnt("quiz", "00", typed="b\nc\na\nc\nb\n")
    gnt("quiz", "03", typed="b\na\n")
    listed = gnt("learn", "list").out
    assert re.search(r"^ *00 +5 of 5 right *$", listed, re.MULTILINE)
    assert re.search(r"^ *03 +1 of 8 right, 6 not answered *$", listed, re.MULTILINE)
    assert re.search(r"^ *12 +not begun \(\d+ questions\) *$", listed, re.MULTILINE)
    rows = json.loads(gnt("learn", "list", "03", "--json").out)
    assert [row["exercise"] for row in rows if "exercise" in row] == [e.id for e in COURSE if e.id[:2] == "03"]
    assert rows[-2] == {"quiz": "03", "questions": 8, "answered": 2, "right": 1}
    assert "quiz" not in gnt("learn", "list", "03.1").out
    assert "of 8 right" in gnt("learn", "list", "03").out
    gnt("quiz", "03", typed="b\nc\n")
    assert "2 of 8 right, 6 not answered" in gnt("learn", "list", "03").out, "a later answer takes its place"


def test_watch_checks_each_save_and_goes_on(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    learner = Learner(COURSE, Workspace(folder), ProgressFile(tmp_path / "data"))
    exercise = COURSE.find("01.1")

    def changes(path: Path) -> Iterator[str]:
        if path.name != Path(exercise.file).name:
            return  # the learner stops at the exercise after
        path.write_text("def half(")
        yield SAVED
        solve(folder, exercise)
        yield SAVED
        raise AssertionError("a pass ends the watching")

    readied: list[str] = []
    learner.watch(exercise, changes, lambda one: readied.append(one.id))
    assert readied == ["01.1"]
    said = capsys.readouterr().out
    assert "Python cannot read the file" in said
    assert "01.1: passed" in said
    after = COURSE.exercises[COURSE.exercises.index(exercise) + 1]
    assert f"{after.id} {after.title}" in said.partition("01.1: passed")[2]


def test_keys_while_watching(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    learner = Learner(COURSE, Workspace(folder), ProgressFile(tmp_path / "data"))
    first, second = COURSE.exercises[:2]

    def keys(path: Path) -> Iterator[str]:
        if path.name == Path(first.file).name:
            path.write_text("half a thought")
            yield from "hlc"
            yield "n"
        yield "q"
        raise AssertionError("q ends the watching")

    learner.watch(first, keys, lambda one: None)
    said = capsys.readouterr().out
    count = len(COURSE.exercises)
    assert f"{first.id} {first.title} (0 of {count} passed)" in said
    assert f"{first.id}, hint 1 of 3" in said
    assert f"{first.id}: not right yet" in said
    assert said.index(f"{second.id} {second.title}") > said.index(f"{first.id}: not right yet")
    assert said.count("watching the file; keys: n next, h hint, l list, c check, q quit") == 2


def test_a_key_reaches_the_watch_through_a_terminal(folder: Path, tmp_path: Path) -> None:
    """A pseudo-terminal: l lists without Enter, and after q the terminal is as it was before."""
    main, end = os.openpty()
    before = termios.tcgetattr(end)
    env = os.environ | {"GNT_EXERCISES_DIR": str(folder), "GNT_DATA_DIR": str(tmp_path / "data"), "COLUMNS": "80"}
    command = [sys.executable, "-m", "gn_tutorial", "learn", "--watch"]
    with subprocess.Popen(command, stdin=end, stdout=end, stderr=end, env=env, start_new_session=True) as learning:
        try:
            seen = read_until(main, "q quit")
            os.write(main, b"l")
            seen += read_until(main, "hints read")
            os.write(main, b"q")
            assert learning.wait(timeout=60) == 0
        finally:
            learning.kill()
    assert f"0 of {len(COURSE.exercises)} passed" in seen
    assert termios.tcgetattr(end)[3] == before[3]
    os.close(main)
    os.close(end)


def read_until(terminal: int, words: str) -> str:
    """What the terminal shows, up to these words; fails after a minute without them."""
    seen = ""
    while words not in seen:
        assert select.select([terminal], [], [], 60.0)[0], seen
        seen += os.read(terminal, 4096).decode(errors="replace")
    return seen


def test_numbers_may_be_left_out_or_given(gnt: Callable[..., Ran], folder: Path) -> None:
    assert gnt("learn", "reset", "--yes").code == 0
    assert gnt("learn", "solution").code == 2  # nothing is passed, and --now was not said
    solve(folder, COURSE.find("01.1"))
    assert "1 of " in gnt("learn", "check", "01.1").out
    assert "def " in gnt("learn", "solution").out
    listed = gnt("learn", "list", "01").out
    assert "01.1" in listed
    assert "02.2" not in listed
    assert "begins with '99'" in gnt("learn", "list", "99").err


@pytest.mark.thorough  # it compiles the launcher, the twin's checkers and its headers
def test_what_a_first_check_needs_is_made_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path))
    # In a process of its own: this one may know a launcher from an earlier test, and would make none.
    code = "from gn_tutorial.course.exercises import grade, registry; grade.warm(registry.load_course().find('03.1'))"
    subprocess.run([sys.executable, "-c", code], check=True)
    made = [path for path in (tmp_path / "entries").rglob("*") if path.suffix in (".bin", ".o", ".gch")]
    compiler = find_compiler()
    # With g++ also the precompiled header, and the object with the twin's inline functions.
    more = [".gch", ".o"] if compiler.name == "g++" else []
    assert sorted(path.suffix for path in made) == sorted([".bin", ".o", *more])
    exercise = COURSE.find("03.2")
    assert grade(exercise, exercise.solution).passed
    assert {path for path in (tmp_path / "entries").rglob("*") if path.suffix in (".bin", ".o", ".gch")} == set(made)


def test_a_save_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cpp"
    path.write_text("")
    code = (
        "import pathlib, sys, time\n"
        "for i in range(600):\n"
        "    time.sleep(0.1)\n"
        "    pathlib.Path(sys.argv[1]).write_text(str(i))\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(path)])
    try:
        begin = time.monotonic()
        assert next(iter(saves_and_keys(path))) == SAVED
        assert time.monotonic() - begin < 60
    finally:
        writer.kill()
        writer.wait()


def test_the_folder_in_a_clone_in_an_installation_and_as_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GNT_EXERCISES_DIR", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("GNT_EXERCISES_DIR")
    monkeypatch.setattr(learner_files, "exercises_root", lambda: tmp_path / "clone" / "exercises")
    assert default_folder() == tmp_path / "clone" / "my_exercises"
    monkeypatch.setattr(learner_files, "exercises_root", lambda: tmp_path / "site" / "_exercises")
    assert default_folder() == Path.home() / "gn_exercises"


def test_prepare_leaves_an_attempt_alone_and_says_where_it_cannot_write(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    path = workspace.prepare(FIRST)
    path.write_text("mine")
    assert workspace.prepare(FIRST).read_text() == "mine"
    assert not workspace.untouched(FIRST)
    (tmp_path / "file").write_text("")
    with pytest.raises(ArgumentError, match="GNT_EXERCISES_DIR"):
        Workspace(tmp_path / "file").prepare(FIRST)


def test_a_learner_s_file_moves_to_the_present_number(tmp_path: Path) -> None:
    moved = COURSE.find("08.1")
    old = tmp_path / "07_precision" / "07_1_rms_of_halves.cpp"
    old.parent.mkdir()
    old.write_text("// 07.1 Each row of half numbers\nmine\n")
    workspace = Workspace(tmp_path)
    path = workspace.prepare(moved)
    assert path == tmp_path / "08_precision" / "08_1_rms_of_halves.cpp"
    assert path.read_text() == "// 08.1 Each row of half numbers\nmine\n"
    assert not old.exists()
    # What was there before under the new number stays.
    old.write_text("an older one\n")
    assert workspace.prepare(moved).read_text().endswith("mine\n")
    assert old.read_text() == "an older one\n"


def test_a_stub_under_an_old_number_is_still_not_attempted(tmp_path: Path) -> None:
    tried = 0
    for exercise in COURSE:
        for former in former_files(exercise.file):
            (tmp_path / former).parent.mkdir(exist_ok=True)
            now, then = exercise.notebook, former[:2]
            back = exercise.stub.read_text().replace(exercise.id, Path(former).name[:4].replace("_", "."))
            if now != then:
                back = re.sub(rf"\b{now}(?=\.\d )", then, back).replace(f"otebook {now}", f"otebook {then}")
            (tmp_path / former).write_text(back)
            assert Workspace(tmp_path).untouched(exercise), (exercise.id, former)
            Workspace(tmp_path).path(exercise).unlink()
            tried += 1
    assert tried > 20
