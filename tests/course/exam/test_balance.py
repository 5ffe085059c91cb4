"""Nobody passes without reading: to pick by length, or always the same letter, is no better than to guess.

A question counts as in a paper: all of its right options, and no other. Of options of equal length one is taken by
chance. If a question has several right options, a strategy knows how many there are, and takes that many.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import comb

import pytest

from gn_tutorial.course.exam.bank import kind_of, load_bank
from gn_tutorial.course.quizzes.quiz import names, quiz
from gn_tutorial.course.quizzes.quiz_question import Option, QuizQuestion, plain

THEORY = [question for topic in load_bank().topics for question in topic.questions]
QUIZZES = [question for name in names() for question in quiz(name).questions]
SETS = {
    "theory": THEORY,
    "theory, single choice": [one for one in THEORY if kind_of(one) == "single choice"],
    "quizzes": QUIZZES,
}
#: The points by which a strategy may differ from chance, in parts of 1.
MARGIN = Fraction(5, 100)
Rank = Callable[[Option], int]


def length(option: Option) -> int:
    """As a reader sees it."""
    return len(plain(option.text).replace("`", ""))


STRATEGIES: dict[str, Rank] = {"longest": lambda option: -length(option), "shortest": length}


def won(question: QuizQuestion, rank: Rank) -> Fraction:
    """The chance that the options with the smallest rank are just the right ones."""
    number = len(question.right)
    ranks = sorted(map(rank, question.options))
    limit = ranks[number - 1]
    sure = {one.letter for one in question.options if rank(one) < limit}
    tied = [one.letter for one in question.options if rank(one) == limit]
    ways = list(itertools.combinations(tied, number - len(sure)))
    return Fraction(sum(sure | set(way) == set(question.right) for way in ways), len(ways))


def mean(numbers: Iterable[Fraction]) -> Fraction:
    found = list(numbers)
    return sum(found, Fraction(0)) / len(found)


def chance(questions: list[QuizQuestion]) -> Fraction:
    return mean(Fraction(1, comb(len(one.options), len(one.right))) for one in questions)


@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_length_does_not_help(which: str, strategy: str) -> None:
    questions = SETS[which]
    found = mean(won(one, STRATEGIES[strategy]) for one in questions)
    assert abs(found - chance(questions)) <= MARGIN, f"{float(found):.3f}, chance {float(chance(questions)):.3f}"


@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize("letter", "abcd")
def test_a_fixed_letter_does_not_help(which: str, letter: str) -> None:
    """Of the questions that have that letter; of several right options the share of questions in which it is one."""
    questions = [one for one in SETS[which] if letter in {option.letter for option in one.options}]
    found = mean(Fraction(letter in one.right) for one in questions)
    expected = mean(Fraction(len(one.right), len(one.options)) for one in questions)
    assert abs(found - expected) <= MARGIN, f"{float(found):.3f}, chance {float(expected):.3f}"


@pytest.mark.parametrize("answer", ["true", "false"])
def test_true_and_false_are_equally_frequent(answer: str) -> None:
    statements = [one for one in THEORY if kind_of(one) == "true or false"]
    right = mean(Fraction(option.right) for one in statements for option in one.options if option.text == answer)
    assert abs(right - Fraction(1, 2)) <= MARGIN


def test_a_bank_that_gives_itself_away_would_be_found() -> None:
    question = quiz("00").questions[0]
    longest = max(question.options, key=length)
    told = QuizQuestion(
        question.text,
        tuple(Option(one.letter, one.text, one is longest, one.why) for one in question.options),
        question.source,
    )
    assert won(told, STRATEGIES["longest"]) == 1
    assert won(told, STRATEGIES["shortest"]) == 0
    several = QuizQuestion(
        "?", (Option("a", "xx", True, "."), Option("b", "x", False, "."), Option("c", "yy", True, ".")), "."
    )
    assert won(several, STRATEGIES["longest"]) == 1
    tied = QuizQuestion(
        "?", (Option("a", "xx", True, "."), Option("b", "yy", False, "."), Option("c", "z", False, ".")), "."
    )
    assert won(tied, STRATEGIES["longest"]) == Fraction(1, 2)
