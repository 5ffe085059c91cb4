"""How far a learner is with each objective, from the learner's files, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gn_tutorial.course.exam.attempt import Attempts
from gn_tutorial.course.exam.goals import Goal
from gn_tutorial.course.exam.items import KINDS, Item
from gn_tutorial.course.progress import Progress

#: This many right theory answers complete an objective's theory part if none is wrong. Its other questions may stay
#: open, because a paper draws only 40 of some 300.
ENOUGH_THEORY = 3
PROPOSALS = 3
# How many proposals are for notebooks already reached, as long as later notebooks have open items.
_BACK = 2
_KINDS = list(KINDS)


@dataclass(frozen=True)
class KindDone:
    """How many items of a kind are done: passed exercises, right answers; a task counts by its points.

    of: how many are needed, which for theory questions may be fewer than there are.
    """

    done: float
    of: int

    def __str__(self) -> str:
        return f"{self.done:.3g} of {self.of}" if self.of else ""


@dataclass(frozen=True)
class Standing:
    """How far a learner is with one objective. parts: by kind of ``items.KINDS``. left: the open items of all kinds."""

    goal: Goal
    parts: dict[str, KindDone]
    left: tuple[Item, ...]

    @property
    def share(self) -> float:
        """The share that is done, 0 to 1: the mean over the kinds of items that the objective has."""
        there = [part.done / part.of for part in self.parts.values() if part.of]
        return sum(there) / len(there) if there else 0.0


@dataclass(frozen=True)
class Proposal:
    """One thing to do. command: a command line of ``gnt``. read: the section to read first."""

    standing: Standing
    what: str
    command: str
    read: str

    def __str__(self) -> str:
        goal = self.standing.goal
        first = f"{goal.title} ({self.standing.share:.0%})"
        return f"{first}\n   you can {goal.you_can}\n   {self.what}: {self.command}\n   read {self.read}"


@dataclass(frozen=True)
class Learned:
    """A learner's progress and exam attempts, which show how much of each item is done."""

    progress: Progress
    attempts: Attempts

    def worth(self, item: Item) -> float | None:
        """Return how much of an item is done, 0 to 1 (of a task: its points / 100); None if it was not tried.

        An accepted task counts as 1, since it can lack only points for speed.
        """
        if item.question is not None:
            quiz = self.progress.quizzes.get(item.group, {})
            known = quiz if item.kind == "quizzes" else self.progress.theory_answers()
            chosen = known.get(item.question.key)
            return None if chosen is None else float(chosen == item.question.right)
        if item.kind == "exercises":
            return 1.0 if item.group in self.progress.passed else None
        best = self.attempts.best(item.group)
        return None if best is None else 1.0 if best["accepted"] else float(best["points"]) / 100


@dataclass(frozen=True)
class _Step:
    """One open item of one objective. stage: the notebook after which it can be done."""

    stage: int
    kind: int
    item: Item
    standing: Standing

    def order(self) -> tuple[int, int, str]:
        """Return the sort key for the course's order: by notebook, then exercises, quizzes, theory, tasks."""
        # Exercises are sorted by number across objectives; tasks keep their order, the easy ones first.
        return self.stage, self.kind, self.item.name if self.item.kind == "exercises" else ""


def standings(goals: Sequence[Goal], known: Learned) -> tuple[Standing, ...]:
    """Return how far the learner is with each objective."""
    return tuple(_standing(goal, known) for goal in goals)


def _standing(goal: Goal, known: Learned) -> Standing:
    parts: dict[str, KindDone] = {}
    left: list[Item] = []
    for kind in KINDS:
        mine = [(one, known.worth(one)) for one in goal.of(kind)]
        tried = [worth for _, worth in mine if worth is not None]
        enough = max(len(tried), min(ENOUGH_THEORY, len(mine))) if kind == "theory" else len(mine)
        parts[kind] = KindDone(sum(tried), enough)
        if sum(tried) < enough:
            left += [one for one, worth in mine if worth is None or worth < 1]
    return Standing(goal, parts, tuple(left))


def propose(found: Sequence[Standing], known: Learned) -> tuple[Proposal, ...]:
    """Return up to three things to do: two from notebooks already reached, then the next item of the later notebooks.

    If either has too few items, the other gives more. In reached notebooks, objectives with the least shares come
    first. A notebook is reached if in it, or in a later one, an exercise was passed or a quiz question answered. An
    objective's theory and tasks count for its last notebook.
    """
    reached = _reached(found, known)
    steps = [_Step(_stage(one, item), _KINDS.index(item.kind), item, one) for one in found for item in one.left]
    firsts: dict[str, _Step] = {}
    for step in sorted(steps, key=_Step.order):
        firsts.setdefault(step.standing.goal.id, step)
    back = [step for step in firsts.values() if step.stage <= reached]
    back.sort(key=lambda step: (step.standing.share, step.order()))
    ahead = sorted((step for step in steps if step.stage > reached), key=_Step.order)
    chosen: dict[str, list[_Step]] = {}
    for some, most in ((back, _BACK), (ahead, PROPOSALS), (back, PROPOSALS)):
        for step in some:
            command = _words(step.item, known)[1]
            if command in chosen or len(chosen) < most:
                chosen.setdefault(command, []).append(step)
    return tuple(_with_goals_of_their_own(chosen, known))


def _with_goals_of_their_own(chosen: dict[str, list[_Step]], known: Learned) -> Iterator[Proposal]:
    """Yield a proposal for each command. An objective that no earlier proposal has is preferred."""
    used: set[str] = set()
    for command, steps in chosen.items():
        step = next((one for one in steps if one.standing.goal.id not in used), steps[0])
        goal = step.standing.goal
        used.add(goal.id)
        yield Proposal(step.standing, _words(step.item, known)[0], command, goal.lesson(step.item))


def _reached(found: Sequence[Standing], known: Learned) -> int:
    taught = ("exercises", "quizzes")
    items = [item for one in found for kind in taught for item in one.goal.of(kind)]
    return max((_notebook(one) for one in items if known.worth(one) is not None), default=-1)


def _notebook(item: Item) -> int:
    return int(item.group[:2])


def _stage(one: Standing, item: Item) -> int:
    return _notebook(item) if item.kind in ("exercises", "quizzes") else one.goal.last_notebook


def _words(item: Item, known: Learned) -> tuple[str, str]:
    """Return what to do, in words, and the command for it."""
    if item.kind == "exercises":
        return f"exercise {item.name}, {item.text}", f"gnt learn --exercise {item.name}"
    if item.kind == "quizzes":
        return f"the quiz of notebook {item.group}", f"gnt quiz {item.group}"
    if item.kind == "theory":
        return f"a theory paper on {item.group}", f"gnt exam theory --topic {item.group}"
    latest = known.attempts.latest(item.name)
    if latest is None:
        return f"the exam task {item.text}", f"gnt exam start {item.name}"
    if not latest.submissions:
        return f"the exam task {item.text}, which is open", f"gnt exam status {item.name}"
    return f"the exam task {item.text} once more", f"gnt exam start {item.name} --new"
