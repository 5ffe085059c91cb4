"""``check("03.2")`` returns the verdict on the learner's attempt. Notebooks and ``gnt learn`` use it."""

from __future__ import annotations

import contextlib
import re
import tempfile
import zlib
from dataclasses import replace
from pathlib import Path

from gn_tutorial.course.exercises.check_kernel import KernelChecker
from gn_tutorial.course.exercises.checkers import Checker, checker_of
from gn_tutorial.course.exercises.registry import Exercise, load_course
from gn_tutorial.course.exercises.verdict import CheckResult, Step, Verdict
from gn_tutorial.course.exercises.workspace import Workspace, default_workspace
from gn_tutorial.course.progress import ProgressFile, default_progress
from gn_tutorial.diagnostics.excerpt import source_line
from gn_tutorial.errors import ArgumentError, GntError
from gn_tutorial.operators import space_findings
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.translation.texts import translated


def check(
    name: str,
    *,
    source: str | None = None,
    workspace: Workspace | None = None,
    progress: ProgressFile | None = None,
    strict: bool = False,
    explicit_waits: bool = False,
) -> CheckResult:
    """Check one exercise: the learner's file, or ``source``, the text of a notebook's cell.

    strict, explicit_waits: launch a kernel with the twin's strict options, or without the waits that the compiler
    adds (``KernelChecker.strict``, ``with_explicit_waits``). Without ``source``, the learner's file is made if it
    is missing. A pass is stored in the learner's progress. A file that still is the stub has the status "not
    attempted" and raises no error, so that a notebook runs to its end. Raises ArgumentError for an unknown
    exercise, for a source that is no text, and if the learner's folder cannot be written; RegistryError if the
    exercise's check cannot be loaded.
    """
    if not isinstance(source, (str, type(None))):
        raise ArgumentError(f"source= is text, not {type(source).__name__}")
    course = load_course()
    exercise = course.find(name)
    workspace, progress = workspace or default_workspace(), progress or default_progress()
    checker = checker_of(exercise) if strict or explicit_waits else None
    if isinstance(checker, KernelChecker):
        checker = checker.strict() if strict else checker
        checker = checker.with_explicit_waits() if explicit_waits else checker
    if source is not None:
        result, step = grade_text(exercise, source, checker), None
    else:
        step = Step(workspace.prepare(exercise))
        if workspace.untouched(exercise):
            return CheckResult(exercise.id, exercise.title, "not attempted", lesson=exercise.lesson, step=step)
        result = grade(exercise, step.file, checker)
    if not result.passed:
        return replace(result, step=step)
    known = progress.update(lambda known: known.with_pass(exercise.id))
    following = course.following(exercise, known.passed)
    shown = f"{following.id} {following.title}" if following else ""
    return replace(result, step=step and replace(step, following=shown, solution=exercise.solution.read_text("utf-8")))


def warm(exercise: Exercise) -> None:
    """Check the stub and ignore the verdict, so that the cache has all builds that a first check needs.

    A kernel's check needs the launcher, the twin's checkers and precompiled headers. The headers are only made when a
    second text is compiled.
    """
    checker = checker_of(exercise)
    stub = exercise.stub.read_bytes()
    texts = (stub, stub + b"\n") if isinstance(checker, KernelChecker) else (stub,)
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(GntError):
        path = Path(folder) / exercise.stub.name
        for text in texts:
            path.write_bytes(text)
            checker.check(path, zlib.crc32(text))


def grade(exercise: Exercise, path: Path, checker: Checker | None = None) -> CheckResult:
    """Return the verdict on the attempt in a file. checker: by default the exercise's own.

    Raises ArgumentError or RegistryError for faults that are not the learner's.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ArgumentError(f"cannot read the attempt: {error.strerror}", where=str(path)) from error
    if not text.strip():
        return _failed(exercise, Verdict("the file is empty", where=path.name))
    # The attempt's text determines the data. So an attempt has the same verdict each time, and no attempt can contain
    # the numbers that its own check will use.
    checker = checker or checker_of(exercise)
    found = checker.check(path, zlib.crc32(exercise.id.encode() + text))
    if isinstance(found, Verdict):
        return _failed(exercise, _with_code(found, path))
    return CheckResult(exercise.id, exercise.title, "passed", found, lesson=exercise.lesson)


def grade_text(exercise: Exercise, text: str, checker: Checker | None = None) -> CheckResult:
    """Return the verdict on the text of an attempt. The text goes to a temporary file, named as the exercise's file."""
    with tempfile.TemporaryDirectory(prefix="gnt-attempt-") as folder:
        path = Path(folder) / Path(exercise.file).name
        path.write_bytes(text.encode("utf-8", "surrogatepass"))  # the checker reports a lone surrogate
        return grade(exercise, path, checker)


def after_pass(exercise: Exercise, path: Path) -> str:
    """Return lines on the address spaces of a kernel that passed: what a device's compiler refuses, or that it checked.

    Empty for an exercise that is no kernel.
    """
    if not isinstance(checker_of(exercise), KernelChecker):
        return ""
    check = kernel(path).check_spaces()
    found = space_findings.findings_of(check)
    if not found:
        return str(check)
    refused = translated("the device's compiler will refuse it: gnt explain {id}").format(id=found[0].id)
    return "\n".join([refused, *(f"  {path.name}:{one.line}: {one.what} {one.fix}" for one in found)])


def counts_on_the_compiler(exercise: Exercise) -> bool:
    """Whether a check keeps the waits that the compiler adds in any case, because the solution needs them."""
    checker = checker_of(exercise)
    return isinstance(checker, KernelChecker) and checker.auto_sync


def _with_code(finding: Verdict, path: Path) -> Verdict:
    """Return the finding with the source line that it names and a mark below, unless it has a detail already."""
    place = re.match(rf"{re.escape(path.name)}:(\d+)", finding.where)
    line = source_line(str(path), int(place[1])).expandtabs(4) if place and not finding.detail else ""
    if not place or not line:
        return finding
    code = line.strip()
    mark = " " * line.index(code) + "^" * len(code)
    return replace(finding, detail=f"{place[1]:>6} | {line}\n{'':6} | {mark}")


def _failed(exercise: Exercise, finding: Verdict) -> CheckResult:
    lesson = exercise.lesson_in(finding.section) if finding.section else exercise.lesson
    return CheckResult(exercise.id, exercise.title, "failed", finding=finding, lesson=lesson)
