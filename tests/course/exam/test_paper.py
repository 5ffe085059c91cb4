"""A paper as a value: what is drawn, what counts as its time, how it is marked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from gn_tutorial.course.exam.bank import load_bank
from gn_tutorial.course.exam.marking import mark
from gn_tutorial.course.exam.paper import Paper, draw
from gn_tutorial.course.progress import Progress
from gn_tutorial.errors import ArgumentError

BANK = load_bank()
BEGIN = 1_000_000.0


def paper(**settings: object) -> Paper:
    return draw(BANK, **{"seed": 7, "now": BEGIN, "minutes": 60.0, **settings})  # type: ignore[arg-type]


def test_forty_questions_by_topic_and_the_seed_decides() -> None:
    drawn = paper()
    counts = Counter(topic for topic, _ in drawn.asked)
    assert len(drawn.asked) == len(set(drawn.asked)) == 40
    assert len(counts) == len(BANK.topics)
    assert set(counts.values()) == {3, 4}
    assert drawn == paper()
    others = {paper(seed=seed).asked for seed in range(8)}
    assert len(others) == 8
    assert {topic for seed in range(20) for topic, _ in paper(seed=seed, count=1).asked} > {"api"}
    assert [topic for topic, _ in drawn.asked] != sorted(topic for topic, _ in drawn.asked), "topics are mixed"


def test_one_topic_and_more_than_it_has() -> None:
    tiling = BANK.topic("tiling")
    all_of_it = paper(topics=["tiling"], count=100)
    assert sorted(all_of_it.asked) == sorted(("tiling", one.key) for one in tiling.questions)
    two = paper(topics=["tiling", "api", "tiling"], count=10)
    assert Counter(topic for topic, _ in two.asked) == {"tiling": 5, "api": 5}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"count": 0}, "a paper cannot have 0 questions"),
        ({"minutes": 0.0}, "a paper cannot last 0 minutes"),
        ({"minutes": float("nan")}, "nan minutes"),
        ({"topics": ["cooking"]}, "there is no topic 'cooking'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        paper(**settings)


def test_time_goes_on_while_nobody_looks_and_a_clock_put_back_gives_nothing() -> None:
    drawn = paper()
    assert drawn.left(BEGIN) == 3600
    seen = drawn.at(BEGIN + 600)
    assert seen.left(BEGIN + 600) == 3000
    assert seen.left(BEGIN - 5000) == 3000
    assert seen.finished is None
    later = seen.at(BEGIN + 7200)
    assert later.finished == BEGIN + 3600, "at its deadline, not when somebody looked"
    assert later.spent(BEGIN + 9999) == 3600
    assert later.left(BEGIN + 9999) == 0
    assert paper(minutes=None).at(BEGIN + 1e9).finished is None
    assert paper(minutes=None).left(BEGIN + 1e9) is None


def test_an_answer_may_be_changed_and_taken_back_and_not_after_the_end() -> None:
    drawn = paper()
    key = drawn.asked[0][1]
    first = drawn.answered(key, "a", BEGIN + 1)
    assert first.answers == {key: "a"}
    assert first.answered(key, "b", BEGIN + 2).answers == {key: "b"}
    assert first.answered(key, "", BEGIN + 2).answers == {}
    assert first.answered("no such", "a", BEGIN + 2).answers == {key: "a"}
    late = first.answered(key, "b", BEGIN + 3601)
    assert late.answers == {key: "a"}
    assert late.finished == BEGIN + 3600
    done = first.handed_in(BEGIN + 10)
    assert done.finished == BEGIN + 10
    assert done.handed_in(BEGIN + 99) == done
    assert first.handed_in(BEGIN + 9999).finished == BEGIN + 3600


def test_marks_by_topic_and_what_to_read() -> None:
    drawn = paper()
    asked = drawn.questions(BANK)
    right = {one.key: one.right for _, one in asked}
    wrong = next(one for _, one in asked if one.options[-1].letter not in one.right)
    several = next(one for name in range(99) for _, one in paper(seed=name).questions(BANK) if len(one.right) > 1)
    answers = right | {wrong.key: wrong.options[-1].letter}
    del answers[asked[-1][1].key]
    done = replace(drawn, answers=answers).handed_in(BEGIN + 120)
    result = mark(done, BANK)
    missed = {wrong.key, asked[-1][1].key}
    assert result.right == 40 - len(missed)
    assert list(result.by_topic) == [topic.title for topic in BANK.topics]
    assert tuple(map(sum, zip(*result.by_topic.values(), strict=True))) == (result.right, 40)
    assert set(result.to_read()) == {one.source for _, one in asked if one.key in missed}
    assert result.minutes == 2
    record = result.record()
    assert (record["right"], record["asked"], record["seed"]) == (result.right, 40, 7)
    assert record["date"] == "1970-01-12T13:48:40+00:00"
    assert record["answers"] == {one.key: answers.get(one.key, "") for _, one in asked}
    known = Progress().with_theory(record)
    assert known.theory_answers()[wrong.key] == wrong.options[-1].letter
    before = {key: value for key, value in record.items() if key != "answers"}
    assert len(Progress().with_theory(before).with_theory(record).theory) == 1, "as an earlier version noted it"
    half = replace(drawn, asked=(("x", several.key), *drawn.asked))
    assert mark(half.handed_in(BEGIN), BANK).gone == 1, "a topic that is not in the bank any more"


def test_a_part_of_several_right_options_does_not_count() -> None:
    topic, several = next((topic, one) for topic in BANK.topics for one in topic.questions if len(one.right) > 1)
    one = Paper(1, None, BEGIN, BEGIN, ((topic.name, several.key),))
    for letters, counts in ((several.right, 1), (several.right[:1], 0), ("abcde"[: len(several.options)], 0), ("", 0)):
        assert mark(replace(one, answers={several.key: letters}).handed_in(BEGIN), BANK).right == counts
