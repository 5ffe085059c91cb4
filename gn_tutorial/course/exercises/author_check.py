"""Checks that every exercise must pass, for authors and CI: ``gnt dev exercise check``.

A stub fails with a message, a solution passes, each wrong solution fails with its own message, and the folders hold no
file that the course does not know. A stub has no text of its solution, not even in a comment. A kernel passes without a
diagnostic also with delayed copies, with strict options, and without the compiler's automatic synchronisation unless
the exercise's checker says that the kernel counts on it. (Unwritten memory holds NaN in every launch.)
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.course.exercises.attempt_process import Forks
from gn_tutorial.course.exercises.check_kernel import KernelChecker
from gn_tutorial.course.exercises.check_python import PythonChecker
from gn_tutorial.course.exercises.checkers import Checker, checker_of
from gn_tutorial.course.exercises.grade import grade, grade_text
from gn_tutorial.course.exercises.registry import Course, Exercise, WrongSolution
from gn_tutorial.course.exercises.verdict import CheckResult, Verdict
from gn_tutorial.errors import GntError, RegistryError

FEWEST_WRONG = 3
#: The least length of a line that may give a solution away. Shorter ones ("return y;", "}") are in every program.
_DISTINCTIVE = 16
_SEED = 1
#: Other content of the two folders: quizzes, puzzles, the exam's questions and tasks, the capstone; their solutions.
_QUESTIONS = re.compile(
    r"quizzes/\d\d\.toml|puzzles/(\d\d_\w+\.toml|README\.md)|theory/(\d\d_\w+|pages)\.toml|"
    r"exam/\w+\.toml|objectives\.toml|capstone/.+"
)
_TASKS = re.compile(r"exam/\w+/(wrong\.toml|\w+/(struct\.h|tiling\.cpp|kernel\.cpp))|capstone/.+")
_IGNORED = {"__pycache__", ".ipynb_checkpoints", "ruff.toml", ".clang-format"}


@dataclass(frozen=True)
class Complaint:
    """One fault that an author has to mend. exercise: its id, or empty for a stray file."""

    exercise: str
    text: str


def check_exercise(exercise: Exercise, wrong: Sequence[WrongSolution] | None = None) -> Iterator[Complaint]:
    """Yield everything that is wrong with one exercise; runs its stub, its solution and its wrong solutions.

    wrong: the wrong solutions to run; None: all. The edits of the others are still applied, to see that they fit.
    """
    for text in _complaints(exercise, exercise.wrong if wrong is None else wrong):
        yield Complaint(exercise.id, text)


def check_folders(course: Course) -> list[Complaint]:
    """Return a complaint about each file of the two folders that belongs to no exercise."""
    given = {exercise.stub for exercise in course}
    kept = {path for exercise in course for path in (exercise.solution, exercise.info)} | _check_files(course)
    found = []
    for root, known, others in ((course.root, given, _QUESTIONS), (course.solutions, kept, _TASKS)):
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_file() and path not in known and not others.fullmatch(name) and not _IGNORED & set(path.parts):
                found.append(Complaint("", f"{root.name.lstrip('_')}/{name} belongs to no exercise"))
    return found


def _check_files(course: Course) -> set[Path]:
    """Return the check files, and the files beside them that they import or read."""
    used = {exercise.check_file for exercise in course}
    unread = list(used)
    while unread:
        path = unread.pop()
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        for one in path.parent.glob("*.py"):
            if one not in used and (f"from .{one.stem} import" in text or f'"{one.name}"' in text):
                used.add(one)
                unread.append(one)
    return used


def leaks(stub: str, solution: str) -> list[str]:
    """Return the solution's lines that a stub gives away, also in comments, with any spacing and line breaks."""
    given = _squeezed(stub)
    # A line that both have as code gives nothing away. A comment of the stub that quotes the solution does.
    own = {line.strip() for line in stub.splitlines()}
    lines = [line for line in solution.splitlines() if line.strip() not in own]
    # The first line of a statement that continues below, `sums =`, gives nothing away.
    lines = [line for line in lines if len(_squeezed(line)) >= _DISTINCTIVE and not line.rstrip().endswith(("(", "="))]
    return [line.strip() for line in lines if _squeezed(line) in given]


def _squeezed(text: str) -> str:
    """Return the text without spaces, and without any language's marks of comments at the beginnings of lines."""
    return "".join("".join(line.lstrip().lstrip("/#*") for line in text.splitlines()).split())


def _complaints(exercise: Exercise, wrong: Sequence[WrongSolution]) -> Iterator[str]:
    for path in (exercise.stub, exercise.solution):
        if not path.is_file():
            yield f"{path} is missing"
            return
    try:
        checker = checker_of(exercise)
    except RegistryError as error:
        yield str(error)
        return
    if isinstance(checker, PythonChecker) and (missing := checker.missing()):
        yield f"{missing} is not installed, so nothing of it was run: ./gnt torch installs it"
        return
    if len(exercise.wrong) < FEWEST_WRONG:
        yield f"{len(exercise.wrong)} wrong solutions; at least {FEWEST_WRONG} are needed"
    stub, solution = exercise.stub.read_text(encoding="utf-8"), exercise.solution.read_text(encoding="utf-8")
    yield from (f"the stub gives the solution away: {line}" for line in leaks(stub, solution))
    try:
        with _for_many(checker) as checker:
            yield from _run_all(exercise, solution, checker, wrong)
    except GntError as error:
        yield str(error)


@contextlib.contextmanager
def _for_many(checker: Checker) -> Iterator[Checker]:
    """Yield the checker for many attempts in a row. Python attempts run in forks of a process with their libraries."""
    if not isinstance(checker, PythonChecker):
        yield checker
        return
    with Forks(checker.libraries) as forks:
        yield replace(checker, run=forks.run)


def _run_all(exercise: Exercise, solution: str, checker: Checker, chosen: Sequence[WrongSolution]) -> Iterator[str]:
    stub = grade(exercise, exercise.stub, checker)
    if stub.passed:
        yield "the stub passes: there is nothing to do"
    elif not _helpful(stub):
        yield f"the stub fails without help: {stub.message or 'no message'}"
    solved = grade(exercise, exercise.solution, checker)
    if not solved.passed:
        yield f"the solution fails:\n{solved}"
    if isinstance(checker, KernelChecker) and solved.passed:
        yield from _when_late(exercise, checker)
    said: dict[str, str] = {}
    for wrong in exercise.wrong:
        text = wrong.apply(solution)
        if wrong not in chosen:
            continue
        result = grade_text(exercise, text, checker)
        if result.passed:
            yield f"the wrong solution '{wrong.name}' passes"
            continue
        if wrong.message not in result.message:
            yield f"the wrong solution '{wrong.name}' must get the message '{wrong.message}', not: {result.message}"
        if result.message in said:
            other = said[result.message]
            yield f"the wrong solutions '{wrong.name}' and '{other}' get the same message: {result.message}"
        said[result.message] = wrong.name


def _when_late(exercise: Exercise, checker: KernelChecker) -> Iterator[str]:
    """Yield the solution's faults with delayed copies, without automatic synchronisation, and with strict options.

    Yield also that the checker sets ``auto_sync`` without need.
    """
    late = replace(checker, options=TwinOptions(delayed_dma=True)).check(exercise.solution, _SEED)
    if isinstance(late, Verdict):
        yield f"the solution fails with delayed copies: {late.message} ({late.case})"
    alone = replace(checker, options=TwinOptions(delayed_dma=True, auto_sync="off")).check(exercise.solution, _SEED)
    if isinstance(alone, Verdict) and not checker.auto_sync:
        yield f"the solution fails without automatic synchronisation: {alone.message} ({alone.case})"
    if not isinstance(alone, Verdict) and checker.auto_sync:
        yield f"{exercise.check_file.name} says auto_sync=True, but the solution does without it"
    if isinstance(late, Verdict) or (isinstance(alone, Verdict) and not checker.auto_sync):
        return
    strict = checker.strict().with_explicit_waits().check(exercise.solution, _SEED)
    if isinstance(strict, Verdict):
        yield f"the solution fails with gnt learn --strict --waits explicit: {strict.message} ({strict.case})"


def _helpful(result: CheckResult) -> bool:
    finding = result.finding
    return (
        finding is not None
        and len(finding.message) > 20
        and bool(finding.case or finding.where)
        and "crash" not in finding.message
    )
