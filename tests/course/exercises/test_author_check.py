"""Every exercise with its stub, solution and wrong solutions; and that the authors' check finds what it is for."""

from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path

import pytest
from msgspec import structs
from thoroughness import ALL

from gn_tutorial.course.exercises import author_check
from gn_tutorial.course.exercises.attempt_process import CAN_FORK
from gn_tutorial.course.exercises.author_check import check_exercise, check_folders, leaks
from gn_tutorial.course.exercises.check_python import PythonChecker
from gn_tutorial.course.exercises.checkers import checker_of
from gn_tutorial.course.exercises.registry import KINDS, Course, Edit, Exercise, WrongSolution, load_course
from gn_tutorial.errors import RegistryError

COURSE = load_course()
ROOT = Path(__file__).resolve().parents[3]


FIRST_OF_ITS_KIND = [next(one for one in COURSE if one.kind == kind) for kind in KINDS]


# The first exercise of each kind, with one wrong solution of each, at the next position of its list. --all: everything.
@pytest.mark.parametrize("exercise", COURSE.exercises if ALL else FIRST_OF_ITS_KIND, ids=lambda one: one.id)
def test_exercise_is_whole(exercise: Exercise) -> None:
    checker = checker_of(exercise)
    if isinstance(checker, PythonChecker) and (missing := checker.missing()):
        pytest.skip(f"{missing} is not installed")
    turn = list(KINDS).index(exercise.kind)
    wrong = exercise.wrong if ALL else exercise.wrong[turn % len(exercise.wrong) :][:1]
    assert [one.text for one in check_exercise(exercise, wrong)] == []


def test_folders_hold_nothing_else() -> None:
    assert check_folders(COURSE) == []


def test_every_kind_is_there() -> None:
    assert {exercise.kind for exercise in COURSE} == set(KINDS)


@pytest.mark.parametrize("exercise", COURSE.exercises, ids=lambda one: one.id)
def test_its_section_is_in_the_notebook(exercise: Exercise) -> None:
    notebooks = list((ROOT / "notebooks").glob(f"{exercise.notebook}_*.ipynb"))
    if notebooks:  # the notebooks after 00 come later
        assert re.search(rf'"## (?:\d+\. )?{re.escape(exercise.section)}', notebooks[0].read_text())


def changed(**fields: object) -> Exercise:
    return structs.replace(COURSE.find("01.3"), **fields)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "01_3_chunk_statistics.py"
    path.write_text(text)
    return path


def complaints(exercise: Exercise) -> str:
    return "\n".join(one.text for one in check_exercise(exercise))


def test_an_exercise_without_its_library_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = COURSE.find("01.3")
    checker = dataclasses.replace(checker_of(exercise), libraries=("torch_that_nobody_has",))
    monkeypatch.setattr(author_check, "checker_of", lambda name: checker)
    (said,) = check_exercise(exercise)
    assert said.text.startswith("torch_that_nobody_has is not installed, so nothing of it was run: ./gnt torch")


@pytest.mark.skipif(not CAN_FORK, reason="forks are for Linux")
def test_all_attempts_at_an_exercise_share_one_import_of_its_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "counted.py").write_text(f"open({str(tmp_path / 'imports')!r}, 'a').write('1')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    exercise = COURSE.find("01.3")
    checker = dataclasses.replace(checker_of(exercise), libraries=("counted",))
    monkeypatch.setattr(author_check, "checker_of", lambda name: checker)
    solution, stub = (tmp_path / f"{one}_{exercise.stub.name}" for one in ("solution", "stub"))
    for path, given in ((solution, exercise.solution), (stub, exercise.stub)):
        path.write_text("import counted\n" + given.read_text())
    assert list(check_exercise(structs.replace(exercise, solution=solution, stub=stub))) == []
    assert (tmp_path / "imports").read_text() == "1"


def test_a_stub_that_passes_and_a_solution_that_fails_are_found() -> None:
    original = COURSE.find("01.3")
    swapped = changed(stub=original.solution, solution=original.stub, wrong=())
    text = complaints(swapped)
    assert "the stub passes" in text
    assert "the solution fails" in text
    assert "0 wrong solutions; at least 3 are needed" in text


ADD = "AscendC::Add(out, in, in[kTile], static_cast<int32_t>(count));"
AGAIN = "AscendC::Adds(out, out, {}, static_cast<int32_t>(count));"
BARRIER = "AscendC::PipeBarrier<PIPE_V>();"
# Through a number that becomes a pointer, which no checker sees: 0 once the copy has arrived, and NaN before.
EARLY = (
    "const float* early = reinterpret_cast<const float*>((uint64_t)in.GetPhyAddr()); nothing_ = early[0] - early[0];"
)


@pytest.mark.parametrize(
    ("edits", "auto_sync", "said"),
    [
        ({}, False, []),
        ({}, True, ["02_1.check.py says auto_sync=True, but the solution does without it"]),
        ({ADD: ADD + AGAIN.format("0.0f")}, False, ["the solution fails without automatic synchronisation"]),
        ({ADD: ADD + AGAIN.format("0.0f")}, True, []),
        ({ADD: ADD + BARRIER + AGAIN.format("0.0f")}, False, []),
        (
            {
                ADD: ADD + BARRIER + AGAIN.format("nothing_"),
                "inQueue_.EnQue(in);": EARLY + "inQueue_.EnQue(in);",
                "uint32_t end_ = 0;": "uint32_t end_ = 0; float nothing_ = 0;",
            },
            False,
            ["the solution fails with delayed copies", "the solution fails without automatic synchronisation"],
        ),
    ],
    ids=["explicit", "explicit, not said so", "implicit", "implicit, said so", "barrier", "too early"],
)
def test_a_solution_is_tried_with_late_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edits: dict[str, str], auto_sync: bool, said: list[str]
) -> None:
    exercise = COURSE.find("02.1")
    text = exercise.solution.read_text()
    for before, after in edits.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    solution = tmp_path / exercise.solution.name
    solution.write_text(text)
    checker = dataclasses.replace(checker_of(exercise), auto_sync=auto_sync)
    monkeypatch.setattr(author_check, "checker_of", lambda name: checker)
    changed_exercise = structs.replace(exercise, solution=solution, wrong=())
    few, *found = [one.text for one in check_exercise(changed_exercise)]
    assert few.startswith("0 wrong solutions")
    assert [text.partition(":")[0] for text in found] == said


def test_a_missing_file_and_a_missing_check_are_found(tmp_path: Path) -> None:
    assert "absent.py is missing" in complaints(changed(stub=tmp_path / "absent.py"))
    assert "exercise 01.3 has no check file" in complaints(changed(info=tmp_path / "01_3.exercise.toml"))


def test_wrong_solutions_that_pass_or_are_told_something_else_or_the_same_are_found() -> None:
    print_it = (Edit("    delta = mean_b - mean_a\n", "    return None\n"),)
    wrong = (
        WrongSolution("harmless", "anything", (Edit("0, 0.0, 0.0\n    for", "0, 0.0, 0.00\n    for"),)),
        WrongSolution("silent", "something else", print_it),
        WrongSolution("silent too", "returned None", print_it),
    )
    text = complaints(changed(wrong=wrong))
    assert "the wrong solution 'harmless' passes" in text
    assert "'silent' must get the message 'something else', not: combine returned None" in text
    assert "'silent too' and 'silent' get the same message" in text


def test_an_edit_that_no_longer_fits_is_found() -> None:
    stale = (WrongSolution("stale", "x", (Edit("not in the solution", ""),)),) * 3
    assert "replaces a text that the solution has 0 times" in complaints(changed(wrong=stale))


def test_a_solution_in_a_comment_of_the_stub_is_found(tmp_path: Path) -> None:
    original = COURSE.find("01.3")
    stub = written(tmp_path, original.stub.read_text() + "#   delta   = mean_b-mean_a\n")
    assert "the stub gives the solution away: delta = mean_b - mean_a" in complaints(changed(stub=stub))


@pytest.mark.parametrize("comment", ["// {}", "/* {} */", "  //{}", "{}"])
def test_leaks_are_found_however_they_are_written(comment: str) -> None:
    line = "first_ = core * each;"
    assert leaks("int x;\n" + comment.format("first_=core *each;") + "\n", f"int x;\n{line}\n") == [line]
    assert leaks("int x;\n", f"int x;\n{line}\n") == []


def test_lines_that_stub_and_solution_share_are_no_leak() -> None:
    same = "pipe->InitBuffer(queue_, 1, kTile * sizeof(float));\n"
    assert leaks(same, same + "x = 1;\n") == []


def test_stray_files_and_unused_checks_are_found(tmp_path: Path) -> None:
    roots = tmp_path / "exercises", tmp_path / "solutions"
    for here, there in zip((COURSE.root, COURSE.solutions), roots, strict=True):
        shutil.copytree(here, there)
    (roots[0] / "00_start_here" / "notes.txt").write_text("")
    (roots[1] / "old.cpp").write_text("")
    for root in roots:  # among the learner's files a check has no place
        (root / "00_start_here" / "00_99.check.py").write_text("CHECK = None")
    shutil.copy(roots[1] / "00_start_here" / "00_1.check.py", roots[0] / "00_start_here")
    (roots[1] / "11_backward_kernel" / "unused.py").write_text("")
    copied = load_course(*roots)
    assert [one.text for one in check_folders(copied)] == [
        "exercises/00_start_here/00_1.check.py belongs to no exercise",
        "exercises/00_start_here/00_99.check.py belongs to no exercise",
        "exercises/00_start_here/notes.txt belongs to no exercise",
        "solutions/00_start_here/00_99.check.py belongs to no exercise",
        "solutions/11_backward_kernel/unused.py belongs to no exercise",
        "solutions/old.cpp belongs to no exercise",
    ]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('kind = "mend"', 'kind = "paint"', "'kind' is 'paint'"),
        ("minutes = 10", 'minutes = "10"', "'minutes' has a value of the wrong type"),
        ('kind = "mend"\n', "", "'kind' is missing"),
        ("minutes = 10", 'minutes = 10\nchecker = "start.COPY_TAIL"', "'checker' is not a key of an exercise"),
        (
            '  "Try 13 elements on one block, by hand: how many tiles does Process count?",\n',
            "",
            "an exercise has 3 hints",
        ),
        ('name = "last piece too long"', 'name = "rounds up, copies full tiles"', "has a name of its own"),
        ("[[wrong.edit]]", "[[wrong.edits]]", "'edits' is not a key of a wrong solution"),
        ("find = ", "search = ", "'search' is not a key of an edit"),
        ('title = "The forgotten tail"', "title = ", "cannot read the exercise"),
    ],
)
def test_a_mistake_in_an_exercise_s_file_is_named(tmp_path: Path, before: str, after: str, message: str) -> None:
    text = COURSE.find("00.1").info.read_text()
    assert before in text
    info = tmp_path / "00_start_here" / "00_1.exercise.toml"
    info.parent.mkdir()
    info.write_text(text.replace(before, after, 1))
    with pytest.raises(RegistryError, match=re.escape(message)) as caught:
        load_course(COURSE.root, tmp_path).find("00.1")
    assert caught.value.where.startswith(str(info))


@pytest.mark.parametrize("name", ["00_start_here/first.exercise.toml", "01_numpy_group_norm/00_1.exercise.toml"])
def test_the_name_of_an_exercise_s_file_is_its_id(tmp_path: Path, name: str) -> None:
    info = tmp_path / name
    info.parent.mkdir()
    shutil.copy(COURSE.find("00.1").info, info)
    with pytest.raises(RegistryError, match="exercise K of notebook NN"):
        load_course(COURSE.root, tmp_path)


def test_an_edited_exercise_is_read_again(tmp_path: Path) -> None:
    info = tmp_path / "00_start_here" / "00_1.exercise.toml"
    info.parent.mkdir()
    text = COURSE.find("00.1").info.read_text()
    info.write_text(text)
    (first,) = load_course(COURSE.root, tmp_path).exercises
    (same,) = load_course(COURSE.root, tmp_path).exercises
    assert same == first
    info.write_text(text.replace('title = "The forgotten tail"', 'title = "The tail"'))
    (edited,) = load_course(COURSE.root, tmp_path).exercises
    assert (first.title, edited.title) == ("The forgotten tail", "The tail")


def test_a_course_is_found_by_id() -> None:
    assert isinstance(COURSE, Course)
    assert COURSE.find("03.2").solution.is_file()
    assert COURSE.find("03.2").file.startswith("03_")
