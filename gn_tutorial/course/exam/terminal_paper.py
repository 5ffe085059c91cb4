"""A theory paper in the terminal: asks one question at a time, and shows the right answers only at the end."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence

from gn_tutorial.course.exam.bank import Topic, kind_of
from gn_tutorial.course.exam.marking import Marked, PaperResult
from gn_tutorial.course.exam.paper import Paper
from gn_tutorial.course.exam.paper_file import PaperFile
from gn_tutorial.course.quizzes.quiz_question import QuizQuestion, plain

KEYS = "Enter leaves a question open, - goes back, a number goes to that question, ? shows what is open, ! hands in."


class Sitting:
    """The dialogue with a learner over one paper. answer: shows a prompt, returns what was typed; say: shows a text.

    EOFError and KeyboardInterrupt of ``answer`` are passed on, because each answer is already in the file.
    """

    def __init__(self, file: PaperFile, answer: Callable[[str], str], say: Callable[[str], None]) -> None:
        self._file, self._answer, self._say = file, answer, say

    def write(self, paper: Paper) -> Paper:
        """Ask questions until the paper is handed in or its time is over; return the finished paper."""
        asked = paper.questions(self._file.bank)
        place = next((n for n, (_, one) in enumerate(asked) if one.key not in paper.answers), 0)
        while paper.finished is None:
            paper, place = self._one(paper, asked, place)
        return paper

    def _one(self, paper: Paper, asked: Sequence[tuple[Topic, QuizQuestion]], place: int) -> tuple[Paper, int]:
        """Ask the question at ``place``; past the last one, offer to hand in. Return the paper and the next place."""
        if place >= len(asked):
            return self._at_the_end(paper, asked)
        topic, question = asked[place]
        chosen = paper.answers.get(question.key, "")
        self._say(f"\n{place + 1} of {len(asked)} · {topic.title} · {time_left(paper.left(self._file.now()))}")
        self._say(f"{plain(question.text)}  ({kind_of(question)})")
        for option in question.options:
            self._say(f"   {option.letter}  {plain(option.text)}")
        typed = self._answer(f"   your answer{f' (now {chosen})' if chosen else ''}: ").strip().lower()
        letters = re.sub(r"[\s,]+", "", typed)
        offered = {option.letter for option in question.options}
        if letters and set(letters) <= offered:
            return self._chosen(question, "".join(sorted(set(letters)))), place + 1
        return self._moved(paper, asked, typed, place, f"type {', '.join(sorted(offered))}, or: {KEYS}")

    def _chosen(self, question: QuizQuestion, letters: str) -> Paper:
        paper = self._file.answer(question.key, letters)
        if paper.answers.get(question.key) != letters:
            self._say("   the time was over before this answer: it does not count")
        elif len(letters) > 1 and len(question.right) == 1:
            self._say("   noted; but one option is right here, and several letters do not count")
        return paper

    def _at_the_end(self, paper: Paper, asked: Sequence[tuple[Topic, QuizQuestion]]) -> tuple[Paper, int]:
        self._say(f"\n{open_ones(paper, asked)} · {time_left(paper.left(self._file.now()))}")
        typed = self._answer("   ! hands in, a number goes to that question: ").strip()
        return self._moved(paper, asked, typed, len(asked), KEYS)

    def _moved(
        self, paper: Paper, asked: Sequence[tuple[Topic, QuizQuestion]], typed: str, place: int, known: str
    ) -> tuple[Paper, int]:
        """Do what was typed in place of an answer: hand in, go to another question, or show the open questions.

        known: the help to show if something else was typed. Return the paper and the next place.
        """
        # Time passed while the prompt waited, so the paper may be finished now.
        paper = self._file.change(lambda there, now: there.at(now))
        if paper.finished is not None:
            self._say("   the time is over")
        elif typed == "!" and place < len(asked) and any(one.key not in paper.answers for _, one in asked):
            return paper, len(asked)  # show the open questions and ask for ! once more
        elif typed == "!":
            return self._file.hand_in(), place
        elif typed == "" and place < len(asked):
            return paper, place + 1
        elif typed == "-":
            return paper, max(0, place - 1)
        elif typed.isdecimal() and 1 <= int(typed) <= len(asked):
            return paper, int(typed) - 1
        elif typed == "?":
            self._say(f"   {open_ones(paper, asked)} · {time_left(paper.left(self._file.now()))}")
        else:
            self._say(f"   {known}")
        return paper, place


def open_ones(paper: Paper, asked: Sequence[tuple[Topic, QuizQuestion]]) -> str:
    """Return one line with the numbers of the questions without an answer."""
    numbers = [str(n) for n, (_, one) in enumerate(asked, 1) if one.key not in paper.answers]
    if not numbers:
        return "every question has an answer"
    return f"open: {', '.join(numbers)} ({len(numbers)} of {len(asked)})"


def time_left(seconds: float | None) -> str:
    """Return the time left in words: minutes rounded down; below two minutes, seconds. None: there is no limit."""
    if seconds is None:
        return "no limit of time"
    return f"{seconds:.0f} s left" if seconds < 120 else f"{seconds // 60:.0f} min left"


def clock(moment: float) -> str:
    """Return a moment in this computer's time zone: ``14:32``, with the date if it is not today."""
    when = datetime.datetime.fromtimestamp(moment).astimezone()
    today = datetime.datetime.now().astimezone().date()
    return when.strftime("%H:%M" if when.date() == today else "%Y-%m-%d %H:%M")


def summary(result: PaperResult) -> list[str]:
    """Return the lines of a result, without its table of topics."""
    limit = "no limit of time" if result.limit is None else f"limit {result.limit:g} min"
    lines = [f"{result.right} of {len(result.marked)} right, in {result.minutes:.0f} min ({limit})"]
    left = sum(not one.chosen for one in result.marked)
    if left:
        lines.append(f"{left} left open: they count as not right")
    if result.gone:
        lines.append(f"{result.gone} questions are no longer in the bank: they do not count")
    return lines


def review(marked: Marked, number: int) -> list[str]:
    """Return the lines of one question of a finished paper: every option with its explanation, and the source."""
    question = marked.question
    verdict = "right" if marked.right else "left open" if not marked.chosen else "not right"
    lines = [f"\n{number}. [{marked.topic.title}] {plain(question.text)}", f"   {verdict}"]
    for option in question.options:
        mine = "*" if option.letter in marked.chosen else " "
        said = "right" if option.right else "wrong"
        lines += [f"  {mine}{option.letter}  {plain(option.text)}", f"      {said}: {plain(option.why)}"]
    return [*lines, f"   source: {plain(question.source)}"]
