"""The theory bank: its form, its counts, that each page it cites is there, and that no fact is asked twice."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path

import pytest
from exam_support import headings

from gn_tutorial.course.exam.bank import PAGE, kind_of, load_bank
from gn_tutorial.course.quizzes.quiz import names, quiz
from gn_tutorial.course.quizzes.quiz_file import LEVELS
from gn_tutorial.course.quizzes.quiz_question import QuizQuestion, plain
from gn_tutorial.errors import ArgumentError, RegistryError

ROOT = Path(__file__).resolve().parents[3]
BANK = load_bank()
THEORY = [question for topic in BANK.topics for question in topic.questions]
QUIZZES = [question for name in names() for question in quiz(name).questions]
TOPICS = "architecture memory model queues api tiling project host debugging performance precision pytorch"


def test_counts_by_topic_kind_and_level() -> None:
    assert " ".join(topic.name for topic in BANK.topics) == TOPICS
    assert len(THEORY) >= 240
    for topic in BANK.topics:
        assert len(topic.questions) >= 20, topic.name
        assert {one.level for one in topic.questions} == set(LEVELS), topic.name
        assert "single choice" in {kind_of(one) for one in topic.questions}
    kinds = Counter(map(kind_of, THEORY))
    assert kinds["true or false"] >= 30
    assert kinds["multiple choice"] >= 30
    assert min(Counter(one.level for one in THEORY).values()) >= 40


def test_the_number_that_is_told_is_that_of_the_bank() -> None:
    assert f"{len(THEORY)} exam questions" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_option_has_an_explanation_of_its_own() -> None:
    for question in THEORY:
        assert len({one.why for one in question.options}) == len(question.options), question.text
        assert all(one.why.endswith((".", ")", "`")) for one in question.options), question.text
        assert len(plain(question.text)) <= 220, question.text
        assert not re.search(r"\b(?:above|below|previous|next) question\b", question.text)


def test_every_page_that_is_cited_exists_with_its_heading() -> None:
    cited = {source for topic in BANK.topics for source in topic.cited}
    official = {one.removeprefix(PAGE) for one in cited if one.startswith(PAGE)}
    assert official == set(BANK.pages), "a page that nobody cites, or one that is not listed"
    own = sorted(one for one in cited if not one.startswith(PAGE))
    assert own
    for source in own:
        where = re.fullmatch(r"(?:Notebook (\d\d)|(docs/[\w-]+\.md)), section '(.+)'", source)
        assert where, source
        page = next((ROOT / "notebooks").glob(f"{where[1]}_*.ipynb")) if where[1] else ROOT / where[2]
        assert where[3] in headings(page), source


def test_official_pages_have_a_title_and_a_path_of_their_own() -> None:
    assert len({page.path for page in BANK.pages.values()}) == len(BANK.pages)
    assert len({page.title for page in BANK.pages.values()}) == len(BANK.pages)
    assert all(re.fullmatch(r"docs/zh/(?:guide|api)/.+\.md", page.path) for page in BANK.pages.values())
    shown = BANK.topic("queues").questions[2].source
    assert shown.startswith("Ascend C documentation, InitBuffer (docs/zh/api/")


def words(question: QuizQuestion) -> frozenset[str]:
    """What a question and its right answers are about: their longer words and numbers."""
    text = " ".join([question.text, *(one.text for one in question.options if one.right)])
    return frozenset(one for one in re.findall(r"[\w<>]+", text.lower()) if len(one) > 3 or one.isdigit())


def likeness(one: QuizQuestion, other: QuizQuestion) -> float:
    a, b = words(one), words(other)
    return len(a & b) / max(1, len(a | b))


def test_no_two_questions_are_nearly_the_same() -> None:
    assert len({one.key for one in [*THEORY, *QUIZZES]}) == len(THEORY) + len(QUIZZES)
    pairs = [*itertools.combinations(THEORY, 2), *itertools.product(THEORY, QUIZZES)]
    assert [(one.text, other.text) for one, other in pairs if likeness(one, other) > 0.6] == []


def test_a_question_that_is_asked_in_other_words_would_be_found() -> None:
    one = BANK.topic("queues").questions[2]
    again = QuizQuestion("How many buffers may one kernel have together, in all?", one.options, one.source, one.level)
    assert likeness(one, again) > 0.6


def test_an_unknown_topic_lists_those_there_are() -> None:
    with pytest.raises(ArgumentError, match="architecture, memory"):
        BANK.topic("cooking")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("page: initbuffer", "page: initbufer", "no page has the key 'initbufer'"),
        ('level = "easy"\n', "", "a level is missing"),
        ('level = "easy"', 'level = "simple"', "'level' is 'simple'"),
        ('title = "Queues and events"', "", "the topic has no title"),
        ('text = "true", ', 'text = "yes", ', "or true and false"),
    ],
)
def test_a_mistake_in_the_bank_is_named(tmp_path: Path, before: str, after: str, message: str) -> None:
    folder = ROOT / "exercises" / "theory"
    text = (folder / "04_queues.toml").read_text(encoding="utf-8")
    assert before in text
    made = tmp_path / "theory"
    made.mkdir()
    (made / "pages.toml").write_bytes((folder / "pages.toml").read_bytes())
    (made / "04_queues.toml").write_text(text.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(RegistryError, match=re.escape(message)):
        load_bank(tmp_path)


def test_a_folder_without_topics_is_named(tmp_path: Path) -> None:
    (tmp_path / "theory").mkdir()
    with pytest.raises(RegistryError, match=r"cannot read the list of pages"):
        load_bank(tmp_path)
