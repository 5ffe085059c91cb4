"""How far a learner is with an objective, by made-up files, and what is proposed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from exam_support import BEGIN

from gn_tutorial.course.exam.attempt import Attempt, Attempts
from gn_tutorial.course.exam.goals import Goal, load_goals
from gn_tutorial.course.exam.goals_report import GoalsReport
from gn_tutorial.course.exam.items import KINDS
from gn_tutorial.course.exam.objective_progress import KindDone, Learned, Standing, propose, standings
from gn_tutorial.course.progress import Progress

GOALS = load_goals()
NOTHING = Learned(Progress(), Attempts())
ATTEMPT = Attempt("log_cosh", "/somewhere", "9.x", "ascend910b", 120.0, BEGIN, BEGIN)


def goal(name: str) -> Goal:
    return next(one for one in GOALS if one.id == name)


def standing(name: str, known: Learned) -> Standing:
    return standings([goal(name)], known)[0]


def passing(*exercises: str) -> Progress:
    return Progress(passed=dict.fromkeys(exercises, "2026-01-02"))


def answered(progress: Progress, goal: Goal, kind: str, right: int, wrong: int = 0) -> Progress:
    """Answers to the first questions of an objective: right ones, then wrong ones."""
    asked = goal.of(kind)[: right + wrong]
    assert len(asked) == right + wrong
    letters = {}
    for n, one in enumerate(asked):
        question = one.question
        assert question is not None
        bad = "".join(option.letter for option in question.options if not option.right)
        letters[question.key] = question.right if n < right else bad
    if kind == "theory":
        return progress.with_theory({"date": f"{right}-{wrong}", "seed": 1, "answers": letters})
    for one in asked:
        assert one.question is not None
        progress = progress.with_answers(one.group, {one.question.key: letters[one.question.key]})
    return progress


def handed_in(points: float, *, accepted: bool = False, task: str = "log_cosh") -> Attempts:
    return Attempts((replace(ATTEMPT, task=task).submitted({"points": points, "accepted": accepted}, BEGIN + 60),))


def everything() -> Learned:
    progress = passing(*(one.group for goal in GOALS for one in goal.of("exercises")))
    answers = {}
    for one in (item for goal in GOALS for item in goal.items if item.question is not None):
        if one.kind == "quizzes":
            progress = progress.with_answers(one.group, {one.question.key: one.question.right})
        else:
            answers[one.question.key] = one.question.right
    tasks = {one.group for goal in GOALS for one in goal.of("tasks")}
    attempts = tuple(one for task in sorted(tasks) for one in handed_in(93.0, accepted=True, task=task).attempts)
    return Learned(progress.with_theory({"date": "d", "seed": 1, "answers": answers}), Attempts(attempts))


def test_shares_are_means_over_the_kinds_that_an_objective_has() -> None:
    paradigm = goal("paradigm")
    exercises = len(paradigm.of("exercises"))
    known = answered(answered(passing("05.1"), paradigm, "quizzes", 1, 1), paradigm, "theory", 2)
    found = standing("paradigm", Learned(known, handed_in(40.0)))
    assert found.parts == {
        "exercises": KindDone(1.0, exercises),
        "quizzes": KindDone(1.0, 2),
        "theory": KindDone(2.0, 3),
        "tasks": KindDone(0.4, 1),
    }
    assert found.share == pytest.approx((1 / exercises + 1 / 2 + 2 / 3 + 0.4) / 4)
    assert [str(part) for part in found.parts.values()] == [f"1 of {exercises}", "1 of 2", "2 of 3", "0.4 of 1"]
    assert standing("gradients", NOTHING).parts["tasks"] == KindDone(0, 0)
    assert str(standing("gradients", NOTHING).parts["tasks"]) == ""


@pytest.mark.parametrize(
    ("right", "wrong", "of", "open_"), [(3, 0, 3, False), (3, 1, 4, True), (5, 0, 5, False), (1, 3, 4, True)]
)
def test_three_right_theory_answers_are_enough_if_none_is_wrong(right: int, wrong: int, of: int, open_: bool) -> None:
    flags = goal("flags")
    found = standing("flags", Learned(answered(Progress(), flags, "theory", right, wrong), Attempts()))
    assert found.parts["theory"] == KindDone(float(right), of)
    assert any(one.kind == "theory" for one in found.left) is open_


def test_the_last_paper_that_asked_a_question_counts() -> None:
    flags = goal("flags")
    wrong = answered(Progress(), flags, "theory", 0, 3)
    assert standing("flags", Learned(answered(wrong, flags, "theory", 3), Attempts())).parts["theory"].done == 3
    old = Progress().with_theory({"date": "d", "seed": 1, "right": 40, "asked": 40, "topics": {"queues": [4, 4]}})
    assert standing("flags", Learned(old, Attempts())).parts["theory"] == KindDone(0.0, 3)


def test_an_accepted_task_is_done_and_a_late_one_does_not_count() -> None:
    assert standing("paradigm", Learned(Progress(), handed_in(93.0, accepted=True))).parts["tasks"] == KindDone(1.0, 1)
    late = ATTEMPT.submitted({"points": 100.0, "accepted": True}, BEGIN + 8000)
    assert standing("paradigm", Learned(Progress(), Attempts((late,)))).parts["tasks"] == KindDone(0, 1)


def test_a_newcomer_begins_at_the_beginning() -> None:
    told = propose(standings(GOALS, NOTHING), NOTHING)
    assert [one.command for one in told] == ["gnt learn --exercise 00.1", "gnt quiz 00", "gnt learn --exercise 01.1"]
    assert told[0].read == "notebook 00, section 'Break it on purpose'"


def test_what_was_left_behind_comes_before_what_comes_next() -> None:
    exercises = sorted({one.group for goal in GOALS for one in goal.of("exercises") if one.group < "05"} - {"02.1"})
    progress = passing(*exercises)
    for one in (item for goal in GOALS for item in goal.of("quizzes") if item.group < "05" and item.group != "01"):
        progress = progress.with_answers(one.group, {one.question.key: one.question.right})
    known = Learned(progress, Attempts())
    found = standings(GOALS, known)
    told = propose(found, known)
    behind = [one for one in told if one.command.endswith(("02.1", "quiz 01")) or "theory" in one.command]
    assert behind == list(told[:2])
    assert told[2].command == "gnt learn --exercise 05.1"
    by_share = {one.goal.id: one.share for one in found}
    assert by_share[told[0].standing.goal.id] <= by_share[told[1].standing.goal.id]
    assert len({one.command for one in told}) == 3


def test_theory_and_tasks_come_once_the_lessons_were_reached() -> None:
    mine = [goal("paradigm")]
    known = answered(passing("05.1"), mine[0], "quizzes", 2)
    learned = Learned(known, Attempts())
    assert [one.command for one in propose(standings(mine, learned), learned)] == ["gnt exam theory --topic model"]
    known = answered(known, mine[0], "theory", 3)
    for attempts, command in (
        (Attempts(), "gnt exam start log_cosh"),
        (Attempts((ATTEMPT,)), "gnt exam status log_cosh"),
        (handed_in(60.0), "gnt exam start log_cosh --new"),
    ):
        learned = Learned(known, attempts)
        assert [one.command for one in propose(standings(mine, learned), learned)] == [command]


def test_who_has_done_everything_is_told_so() -> None:
    known = everything()
    found = standings(GOALS, known)
    assert [one.goal.id for one in found if one.share < 1 or one.left] == []
    report = GoalsReport(found, propose(found, known), {})
    assert report.proposals == ()
    assert f"{len(GOALS)} of {len(GOALS)} objectives reached, 100% in the mean" in repr(report)
    assert repr(report).endswith("every objective is reached")
    assert "every objective is reached" in report._repr_html_()


def test_the_report_has_a_row_for_each_and_the_same_as_data() -> None:
    known = Learned(answered(passing("05.1"), goal("paradigm"), "quizzes", 1), handed_in(40.0))
    found = standings(GOALS, known)
    report = GoalsReport(found, propose(found, known), {})
    said = repr(report)
    assert all(one.title in said for one in GOALS)
    data = report.record()
    assert [one["objective"] for one in data["objectives"]] == [one.id for one in GOALS]
    mine = next(one for one in data["objectives"] if one["objective"] == "paradigm")
    assert mine["parts"]["tasks"] == {"done": 0.4, "of": 1}
    assert set(mine["parts"]) == set(KINDS)
    assert [one["command"] for one in data["next"]] == [one.command for one in report.proposals]
    assert all(one["command"] in said and one["read"] in said for one in data["next"])
    assert report._repr_html_().count("<tr>") == len(GOALS) + 1 + len(report.proposals) + 1
