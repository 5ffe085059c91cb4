"""Exercises and quizzes in another language: the words change, nothing that is judged or noted does."""

from __future__ import annotations

import pytest

from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.exercises.verdict import CheckResult, Verdict
from gn_tutorial.course.quizzes.quiz import quiz
from gn_tutorial.translation.choice import speaking


def test_an_exercise_reads_in_chinese_and_is_the_same_one() -> None:
    with speaking("en"):
        english = load_course().find("00.1")
    with speaking("zh"):
        chinese = load_course().find("00.1")
        assert chinese.lesson == "notebook 00 的“故意改错”一节"
    assert (chinese.title, english.title) == ("被忘记的尾块", "The forgotten tail")
    assert chinese.task != english.task
    assert all(mine != theirs for mine, theirs in zip(chinese.hints, english.hints, strict=True))
    for name in ("id", "objectives", "section", "kind", "difficulty", "check_file", "stub", "solution", "wrong"):
        assert getattr(chinese, name) == getattr(english, name), name


def test_an_exercise_without_a_translation_stays_english() -> None:
    with speaking("zh"):
        chinese = load_course().find("05.3")
    with speaking("en"):
        assert load_course().find("05.3") == chinese


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("not attempted", "00.1：还没有作答"),
        ("passed", "00.1：通过（被忘记的尾块；7 个用例）"),
        ("failed", "00.1：还不正确（被忘记的尾块）\n  问题:    错了\n  提示:    gnt learn hint 00.1"),
    ],
)
def test_a_verdict_reads_in_chinese(status: str, expected: str) -> None:
    finding = Verdict("错了") if status == "failed" else None
    with speaking("zh"):
        assert repr(CheckResult("00.1", "被忘记的尾块", status, 7, finding)) == expected


def test_answers_count_in_every_language() -> None:
    with speaking("en"):
        english = quiz("00")
    with speaking("zh"):
        chinese = quiz("00")
    assert [one.text for one in chinese.questions] != [one.text for one in english.questions]
    assert [one.key for one in chinese.questions] == [one.key for one in english.questions]
    assert [one.right for one in chinese.questions] == [one.right for one in english.questions]
    answers = {one.key: one.right for one in english.questions}
    assert chinese.standing(answers) == (5, 5)


def test_a_quiz_is_asked_in_chinese() -> None:
    said: list[str] = []
    typed = iter(["a", "c", "a", "c", "b"])
    with speaking("zh"):
        score = quiz("00").ask(lambda prompt: said.append(prompt) or next(typed), said.append)
    assert score == 4
    assert "   你的答案： " in said
    assert "不对，应为 b" in said
    assert said[-1] == "\n5 题中答对 4 题"
