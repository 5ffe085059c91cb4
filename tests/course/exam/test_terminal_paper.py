"""A paper in the terminal and its file: nothing is lost, nothing is told too early, and the time is the wall's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from exam_support import BEGIN, Clock

from gn_tutorial.course.exam.paper import Paper, draw
from gn_tutorial.course.exam.paper_file import PaperFile
from gn_tutorial.course.exam.terminal_paper import Sitting, open_ones, review, summary, time_left
from gn_tutorial.course.progress import ProgressFile
from gn_tutorial.errors import ArgumentError


def keys(*words: str) -> Callable[[str], str]:
    """What a learner types; after that the terminal is closed."""
    typed: Iterator[str] = iter(words)

    def answer(prompt: str) -> str:
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    return answer


def rights(file: PaperFile, paper: Paper) -> list[str]:
    return [one.right for _, one in paper.questions(file.bank)]


def test_all_right_and_the_result_is_in_the_progress(file: PaperFile, drawn: Paper, clock: Clock) -> None:
    said: list[str] = []
    right = rights(file, drawn)
    spelled = [right[0].upper(), right[1], ", ".join(right[2]), *right[3:]]
    clock.now = BEGIN + 60
    done = Sitting(file, keys(*spelled, "!"), said.append).write(drawn)
    assert done.finished == BEGIN + 60
    result = file.result(done)
    assert result.right == 6
    assert summary(result) == ["6 of 6 right, in 1 min (limit 10 min)"]
    (noted,) = file.progress.read().theory
    assert noted == result.record()
    assert file.hand_in() == done
    assert len(file.progress.read().theory) == 1, "noted once"
    text = "\n".join(said)
    assert not any(option.why in text for _, one in drawn.questions(file.bank) for option in one.options)
    assert "every question has an answer" in text


def test_closed_in_the_middle_it_goes_on_where_it_was(file: PaperFile, drawn: Paper, clock: Clock) -> None:
    right = rights(file, drawn)
    with pytest.raises(EOFError):
        Sitting(file, keys(right[0], "", right[2]), print).write(drawn)
    clock.now = BEGIN + 300
    there = PaperFile(ProgressFile(file.progress.path.parent), file.bank, clock).read()
    assert there is not None
    assert len(there.answers) == 2
    assert there.left(clock.now) == 300, "the clock did not stop"
    said: list[str] = []
    with pytest.raises(EOFError):
        Sitting(file, keys(), said.append).write(there)
    assert said[0] == "\n2 of 6 · " + there.questions(file.bank)[1][0].title + " · 5 min left"


def test_keys_move_and_an_answer_is_changed(file: PaperFile, drawn: Paper) -> None:
    said: list[str] = []
    right = rights(file, drawn)
    other = next(letter for letter in "ab" if letter != right[0])
    typed = keys(other, "-", right[0], "5", right[4], "?", "nonsense", "9", "!", "2", right[1], "!", "!")
    done = Sitting(file, typed, said.append).write(drawn)
    assert set(done.answers.values()) <= set(right)
    assert len(done.answers) == 3
    text = "\n".join(said)
    assert "open: 2, 3, 4, 6 (4 of 6)" in text
    assert text.count("Enter leaves a question open") == 2
    assert "open: 3, 4, 6 (3 of 6)" in text, "what is open is shown before it is handed in"
    assert "3 left open: they count as not right" in summary(file.result(done))


def test_an_answer_after_the_time_does_not_count_and_is_said(file: PaperFile, drawn: Paper, clock: Clock) -> None:
    right, said = rights(file, drawn), list[str]()

    def late(prompt: str) -> str:
        clock.now += 400
        return right[0] if clock.now < BEGIN + 500 else right[1]

    done = Sitting(file, late, said.append).write(drawn)
    assert done.finished == BEGIN + 600
    assert len(done.answers) == 1
    assert said[-1] == "   the time was over before this answer: it does not count"
    assert file.progress.read().theory[0]["minutes"] == 10.0


def test_a_key_after_the_time_ends_it(file: PaperFile, drawn: Paper, clock: Clock) -> None:
    clock.now = BEGIN + 601
    said: list[str] = []
    done = Sitting(file, keys(""), said.append).write(drawn)
    assert done.finished == BEGIN + 600
    assert said[-1] == "   the time is over"


def test_several_letters_for_one_right_option_are_warned_of(file: PaperFile, drawn: Paper) -> None:
    said: list[str] = []
    with pytest.raises(EOFError):
        Sitting(file, keys("ab"), said.append).write(drawn)
    assert "   noted; but one option is right here, and several letters do not count" in said


def test_words_for_time_and_what_is_open(file: PaperFile, drawn: Paper) -> None:
    assert [time_left(one) for one in (None, 0.0, 119.4, 120.0, 3599.0)] == [
        "no limit of time",
        "0 s left",
        "119 s left",
        "2 min left",
        "59 min left",
    ]
    asked = drawn.questions(file.bank)
    assert open_ones(drawn, asked) == "open: 1, 2, 3, 4, 5, 6 (6 of 6)"


def test_the_review_explains_every_option(file: PaperFile, drawn: Paper) -> None:
    asked = drawn.questions(file.bank)
    wrong = next(option.letter for option in asked[1][1].options if not option.right)
    file.answer(asked[0][1].key, asked[0][1].right)
    file.answer(asked[1][1].key, wrong)
    result = file.result(file.hand_in())
    texts = ["\n".join(review(one, n)) for n, one in enumerate(result.marked, 1)]
    assert [text.splitlines()[2].strip() for text in texts] == ["right", "not right", *["left open"] * 4]
    assert f"*{wrong}  " in texts[1]
    for text, (_, question) in zip(texts, asked, strict=True):
        assert text.count(" right: ") == len(question.right)
        assert text.count(" wrong: ") == len(question.options) - len(question.right)
        assert text.endswith(f"source: {question.source}")


def test_a_file_that_cannot_be_read_is_named_and_can_be_set_aside(file: PaperFile, drawn: Paper) -> None:
    content = file.path.read_bytes()
    file.path.write_text("{")
    with pytest.raises(ArgumentError, match="theory paper cannot be read"):
        file.read()
    kept = file.set_aside()
    assert kept is not None
    assert kept.read_text() == "{"
    assert file.read() is None
    with pytest.raises(ArgumentError, match="there is no theory paper"):
        file.answer("x", "a")
    file.path.write_bytes(content)
    assert file.read() == drawn


def test_a_folder_that_cannot_be_written_is_said(file: PaperFile) -> None:
    file.path.parent.parent.mkdir(parents=True, exist_ok=True)
    file.path.parent.write_text("no folder")
    with pytest.raises(ArgumentError, match="cannot be kept"):
        file.write(draw(file.bank, 1, BEGIN, minutes=None))


def test_progress_of_before_has_no_papers(file: PaperFile) -> None:
    file.progress.update(lambda known: known.with_pass("03.1"))
    data = json.loads(file.progress.path.read_text())
    del data["theory"]
    file.progress.path.write_text(json.dumps(data))
    assert file.progress.read().theory == ()
    assert list(file.progress.read().passed) == ["03.1"]
