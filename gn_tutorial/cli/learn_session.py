"""The actions of ``gnt learn`` for one learner at one terminal: present, check, watch, hint, reset, solution, list."""

from __future__ import annotations

import sys
import textwrap
import threading
from collections.abc import Callable, Container, Iterable
from itertools import groupby
from pathlib import Path

from gn_tutorial.cli.terminal import emit_json, print_source, print_table, working
from gn_tutorial.cli.watched_keys import KEYS, SAVED
from gn_tutorial.course.exercises.grade import after_pass, check, counts_on_the_compiler, grade, warm
from gn_tutorial.course.exercises.registry import HINTS, KINDS, Course, Exercise, load_course
from gn_tutorial.course.exercises.verdict import CheckResult
from gn_tutorial.course.exercises.workspace import Workspace, default_workspace
from gn_tutorial.course.progress import ProgressFile, default_progress
from gn_tutorial.course.puzzles.bank import load as load_puzzles
from gn_tutorial.course.quizzes.quiz import names as quiz_names
from gn_tutorial.course.quizzes.quiz import quiz
from gn_tutorial.errors import ArgumentError
from gn_tutorial.translation.texts import translated


class Learner:
    """One learner at one terminal. strict, explicit_waits: how kernels are checked, as for ``check``."""

    def __init__(
        self,
        course: Course,
        workspace: Workspace,
        progress: ProgressFile,
        *,
        strict: bool = False,
        explicit_waits: bool = False,
    ) -> None:
        self.course, self.workspace, self.progress = course, workspace, progress
        self.strict, self.explicit_waits = strict, explicit_waits

    def next(self, after: Exercise | None = None) -> Exercise | None:
        """Return the first exercise that is not passed, searching from ``after`` on and then from the start.

        Return None if all are passed.
        """
        return self.course.following(after or self.course.find(self.course.ids[0]), self.progress.read().passed)

    def chosen(self, name: str) -> Exercise:
        """Return the exercise with id ``name``. Raises ArgumentError if there is none.

        If ``name`` is empty, return the next exercise, or the last if all are passed.
        """
        return self.course.find(name) if name else self.next() or self.course.find(self.course.ids[-1])

    def present(self, exercise: Exercise) -> None:
        """Copy the stub to the learner's folder, unless the attempt is there already, and print the task."""
        path = self.workspace.prepare(exercise)
        print(f"{exercise.id} {exercise.title} ({self.standing()})")
        about = translated("about {minutes} minutes, {difficulty}")
        rows = [
            (translated("to do"), f"{translated(KINDS[exercise.kind])}: {exercise.task}"),
            (translated("file"), str(path)),
            (translated("time"), about.format(minutes=exercise.minutes, difficulty=translated(exercise.difficulty))),
            (translated("read"), exercise.lesson),
            (translated("stuck?"), f"gnt learn hint {exercise.id}"),
        ]
        for label, text in rows:
            print(f"  {label + ':':<8}{text}")

    def standing(self) -> str:
        """Return how far the learner is: ``12 of 37 passed``."""
        passed = self.progress.read().passed
        count = sum(one in passed for one in self.course.ids)
        return translated("{count} of {all} passed").format(count=count, all=len(self.course.ids))

    def check(self, exercise: Exercise) -> CheckResult:
        """Check the attempt; print and return the verdict; after a pass, also print the next exercise."""
        with working(f"checking {exercise.id}"):
            result = check(
                exercise.id,
                workspace=self.workspace,
                progress=self.progress,
                strict=self.strict,
                explicit_waits=self.explicit_waits,
            )
        print(result)
        if result.status == "not attempted" and exercise.kind == "mend":
            with working(f"running {exercise.id} as it stands"):
                found = grade(exercise, exercise.stub).finding
            if found:
                said = translated("as it stands: {message}").format(message=found.message)
                print(textwrap.indent("\n".join(filter(None, (said, found.case, found.where, found.detail))), "  "))
        if self.explicit_waits and result.status != "not attempted" and counts_on_the_compiler(exercise):
            print(
                translated("this exercise counts on the waits that the compiler puts in: a missing one is not checked")
            )
        if result.passed:
            if said := after_pass(exercise, self.workspace.path(exercise)):
                print(said)
            after = result.step.following if result.step else ""
            print(self.standing())
            following = translated("next: {following}").format(following=f"{after} (gnt learn)")
            print(following if after else translated("that was the last one: every exercise is passed"))
            print(translated("ours: {command}").format(command=f"gnt learn solution {exercise.id}"))
        return result

    def watch(
        self,
        exercise: Exercise,
        events: Callable[[Path], Iterable[str]],
        make_ready: Callable[[Exercise], None] = warm,
    ) -> None:
        """Check after each save, and go on to the next exercise after a pass, until all are passed or ``q`` is pressed.

        An attempt that is there already is checked at once. Watching also ends when the events end.

        events: a function that yields, for a file, ``SAVED`` after each save and the keys (``KEYS``) that are pressed.
        make_ready: prepares the compiled files that every check needs. It runs in a thread while the learner reads, so
        that the first check then compiles only the learner's text.
        """
        threading.Thread(target=make_ready, args=(exercise,)).start()
        following: Exercise | None = exercise
        while following is not None:
            self.present(following)
            if self._passes(following):
                following = self.next(following)
                continue
            print(f"watching the file; keys: {', '.join(f'{key} {what}' for key, what in KEYS.items())}")
            following = self._until_done(following, events(self.workspace.path(following)))

    def _until_done(self, exercise: Exercise, happened: Iterable[str]) -> Exercise | None:
        """Handle events until the exercise is passed or left; return the next exercise, or None to end watching."""
        for one in happened:
            if (one == SAVED and self._passes(exercise)) or (one == "c" and self.check(exercise).passed):
                return self.next(exercise)
            if one == "h":
                self.hint(exercise, None)
            elif one == "l":
                self.table(as_json=False)
            elif one == "n":
                # This returns the same exercise if no other is left to pass.
                return self.next(self.course.after(exercise))
            elif one == "q":
                return None
        return None

    def _passes(self, exercise: Exercise) -> bool:
        return not self.workspace.untouched(exercise) and self.check(exercise).passed

    def hint(self, exercise: Exercise, level: int | None) -> None:
        """Print hint number ``level``; for None the next hint that was not read yet, or the last if all were read."""
        read = self.progress.read().hints.get(exercise.id, 0)
        number = level or min(read + 1, HINTS)
        head = translated("{exercise}, hint {number} of {all}:").format(exercise=exercise.id, number=number, all=HINTS)
        print(f"{head} {exercise.hints[number - 1]}")
        if number < HINTS:
            command = f"gnt learn hint {exercise.id} --level {number + 1}"
            print("  " + translated("the next one: {command}").format(command=command))
        self.progress.update(lambda known: known.with_hint(exercise.id, number))

    def reset(self, exercise: Exercise, *, sure: Callable[[str], bool]) -> None:
        """Put the stub back; keep the attempt as a backup.

        If there is an attempt, ``sure`` is asked first, and nothing changes unless it returns True.
        """
        path = self.workspace.path(exercise)
        if not self.workspace.untouched(exercise) and not sure(f"put the stub back in place of {path}?"):
            print("nothing was changed")
            return
        backup = self.workspace.reset(exercise)
        print(f"{path} is as it was at the start" + (f"; your attempt is kept as {backup}" if backup else ""))

    def solution(self, exercise: Exercise, *, now: bool) -> None:
        """Print the solution if the exercise is passed or ``now`` is set. Raises ArgumentError otherwise."""
        if exercise.id not in self.progress.read().passed and not now:
            raise ArgumentError(
                f"{exercise.id} is not passed yet",
                hint=f"gnt learn hint {exercise.id}; or, even so, gnt learn solution {exercise.id} --now",
            )
        print_source(exercise.solution.read_text(encoding="utf-8"), str(exercise.solution))

    def shown(self, name: str) -> Exercise:
        """Return the exercise whose solution to show: the one with id ``name``. Raises ArgumentError if there is none.

        If ``name`` is empty, return the exercise passed last, or the next if none is passed.
        """
        # Progress.with_pass puts the exercise passed last first.
        return self.chosen(name or next(iter(self.progress.read().passed), ""))

    def table(self, *, as_json: bool, part: str = "") -> None:
        """Print the progress in all exercises, quizzes and puzzles, or in those whose name begins with ``part``.

        Puzzles have the names of their notebooks. Raises ArgumentError if no exercise's id begins with ``part``.
        """
        known = self.progress.read()
        rows = [
            (e, self._state(e, known.passed), known.hints.get(e.id, 0)) for e in self.course if e.id.startswith(part)
        ]
        if not rows:
            raise ArgumentError(f"no exercise begins with '{part}'", hint="gnt learn list shows all")
        asked = [quiz(name) for name in quiz_names() if name.startswith(part)]
        answered = [(one, *one.standing(known.quizzes.get(one.name, {}))) for one in asked]
        puzzles = _puzzles(part, known.puzzles)
        if as_json:
            emit_json(
                [{"exercise": e.id, "title": e.title, "state": state, "hints": hints} for e, state, hints in rows]
                + [
                    {"quiz": one.name, "questions": len(one.questions), "answered": done, "right": right}
                    for one, right, done in answered
                ]
                + [{"notebook": name, "puzzles": whole, "passed": done} for name, done, whole in puzzles]
            )
            return
        cells = [(e.id, e.title, state, f"{hints} of {HINTS}", f"{e.minutes} min") for e, state, hints in rows]
        print_table(("exercise", "title", "state", "hints read", "time"), cells, title=self.standing())
        if answered:
            scores = [(one.name, _score(len(one.questions), right, done)) for one, right, done in answered]
            print_table(("quiz", "score"), scores)
        if puzzles:
            print_table(("notebook", "puzzles"), [(name, f"{done} of {whole} passed") for name, done, whole in puzzles])

    def _state(self, exercise: Exercise, passed: dict[str, str]) -> str:
        if exercise.id in passed:
            return f"passed {passed[exercise.id]}"
        return "not begun" if self.workspace.untouched(exercise) else "begun"


def _puzzles(part: str, passed: Container[str]) -> list[tuple[str, int, int]]:
    """Return (notebook, puzzles passed, puzzles) for each notebook whose number begins with ``part``."""
    known = [one for one in load_puzzles().values() if one.notebook.startswith(part)]
    return [
        (name, sum(one.id in passed for one in those), len(those))
        for name, group in groupby(known, key=lambda one: one.notebook)
        for those in [list(group)]
    ]


def _score(questions: int, right: int, answered: int) -> str:
    """Return the score of a quiz, in words."""
    if not answered:
        return f"not begun ({questions} questions)"
    left = questions - answered
    return f"{right} of {questions} right" + (f", {left} not answered" if left else "")


def learner(*, strict: bool = False, explicit_waits: bool = False) -> Learner:
    """Return the learner with this user's files."""
    return Learner(
        load_course(), default_workspace(), default_progress(warn), strict=strict, explicit_waits=explicit_waits
    )


def warn(text: str) -> None:
    """Print a warning about the user's files on standard error."""
    print(f"gnt: {text}", file=sys.stderr)
