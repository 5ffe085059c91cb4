"""The check file of an exercise: when it is loaded, the error if it cannot be, and the code that never sees it."""

from __future__ import annotations

import fnmatch
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gn_tutorial.course.exercises.checkers import checker_of
from gn_tutorial.course.exercises.registry import Exercise, load_course
from gn_tutorial.course.exercises.workspace import Workspace
from gn_tutorial.course.lab.folder import CourseFolder
from gn_tutorial.errors import RegistryError

COURSE = load_course()
TEXT = """
from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction

CHECK = PredictChecker((Prediction("answer", "the answer", lambda: 42),))
"""


@pytest.fixture
def exercise(tmp_path: Path) -> Exercise:
    """Exercise 00.1 in a folder of its own, with a check that has one question."""
    folder = tmp_path / "solutions" / "00_start_here"
    folder.mkdir(parents=True)
    shutil.copy(COURSE.find("00.1").info, folder)
    (one,) = load_course(COURSE.root, folder.parent).exercises
    one.check_file.write_text(TEXT)
    return one


def question(exercise: Exercise) -> str:
    return checker_of(exercise).questions[0].name  # type: ignore[attr-defined]


@pytest.mark.parametrize("exercise_id", [one.id for one in COURSE])
def test_every_exercise_has_one(exercise_id: str) -> None:
    exercise = COURSE.find(exercise_id)
    assert exercise.check_file.parent == exercise.solution.parent
    assert callable(checker_of(exercise).check)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("CHECK = (", "the check cannot be loaded: SyntaxError: '(' was never closed", ":1"),
        ("\nimport no_such_package\n", "the check cannot be loaded: ModuleNotFoundError: No module named", ":2"),
        ("from .nowhere import x\n", "the check cannot be loaded: ModuleNotFoundError: No module named", ":1"),
        ("from .helper import x\n", "the check cannot be loaded: ZeroDivisionError: division by zero", "helper.py:2"),
        ("CHECKER = 1\n", "the check file has no constant CHECK", ".py"),
        ("CHECK = 'KernelChecker'\n", "CHECK is of the type str; it must be a checker", ".py"),
        (TEXT.replace("((Pred", "#"), "CHECK is the class PredictChecker; it must be a checker", ".py"),
    ],
)
def test_what_is_wrong_with_one_is_said(exercise: Exercise, text: str, message: str, line: str) -> None:
    exercise.check_file.write_text(text)
    exercise.check_file.with_name("helper.py").write_text("\n1 / 0\n")
    for _ in range(2):  # what failed is not half there the next time
        with pytest.raises(RegistryError, match=re.escape(message)) as caught:
            checker_of(exercise)
        assert caught.value.where.startswith(str(exercise.check_file.parent))
        assert caught.value.where.endswith(line)
        assert "CONTRIBUTING.md" in caught.value.hint


def test_a_missing_one_is_named(exercise: Exercise) -> None:
    exercise.check_file.unlink()
    with pytest.raises(RegistryError, match=re.escape("exercise 00.1 has no check file")) as caught:
        checker_of(exercise)
    assert caught.value.where == str(exercise.check_file)


def test_it_is_loaded_once_and_again_when_it_or_its_helper_changes(exercise: Exercise) -> None:
    first = checker_of(exercise)
    assert checker_of(exercise) is first
    helper = exercise.check_file.with_name("helper.py")
    helper.write_text('NAME = "of the helper"\n')
    exercise.check_file.write_text("from .helper import NAME\n" + TEXT.replace('"answer"', "NAME"))
    assert question(exercise) == "of the helper"
    helper.write_text('NAME = "of the edited helper"\n')
    assert question(exercise) == "of the edited helper"


def test_two_folders_have_helpers_of_one_name(exercise: Exercise, tmp_path: Path) -> None:
    exercise.check_file.with_name("helper.py").write_text('NAME = "one"\n')
    exercise.check_file.write_text("from .helper import NAME\n" + TEXT.replace('"answer"', "NAME"))
    shutil.copytree(exercise.check_file.parent, tmp_path / "others" / "00_start_here")
    (other,) = load_course(COURSE.root, tmp_path / "others").exercises
    other.check_file.with_name("helper.py").write_text('NAME = "other"\n')
    assert [question(one) for one in (exercise, other, exercise)] == ["one", "other", "one"]


def test_only_the_check_that_is_asked_for_is_loaded() -> None:
    program = (
        "import sys\nfrom gn_tutorial.course.exercises.checkers import checker_of\n"
        "from gn_tutorial.course.exercises.registry import load_course\n"
        "checker_of(load_course().find('06.2'))\n"
        "print([name.rpartition('.')[2] for name in sys.modules if name.startswith('gn_tutorial_checks_')][1:])"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "['check_06_2']"


def test_a_learner_gets_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither with the exercises nor with the course that JupyterLab opens, its links followed."""
    monkeypatch.setenv("GNT_EXERCISES_DIR", str(tmp_path / "exercises"))
    for exercise in COURSE:
        Workspace(tmp_path / "exercises").prepare(exercise)
    CourseFolder(tmp_path / "course").prepare()
    copies = {path.relative_to(tmp_path / "exercises").as_posix() for path in (tmp_path / "exercises").glob("*/*")}
    assert copies == {exercise.file for exercise in COURSE}
    linked = [path.resolve() for path in (tmp_path / "course").iterdir()]
    assert linked
    assert not any(COURSE.solutions == one or one in COURSE.solutions.parents for one in linked)
    assert not [path for root in (COURSE.root, *linked) for path in root.rglob("*.check.py")]


def test_pytest_collects_none() -> None:
    beside = {path.name for path in COURSE.solutions.glob("[0-9]*/*.py")}
    beside -= {exercise.solution.name for exercise in COURSE}
    assert len(beside) > len(COURSE.exercises)
    assert not [name for name in beside if fnmatch.fnmatch(name, "test_*.py") or fnmatch.fnmatch(name, "*_test.py")]
