"""One theory paper: its questions, its answers, its remaining time. Functions get the time and read no clock."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gn_tutorial.course.exam.bank import Bank, Topic
from gn_tutorial.course.exam.countdown import Timed
from gn_tutorial.course.quizzes.quiz_question import QuizQuestion
from gn_tutorial.errors import ArgumentError

QUESTIONS = 40
#: The time of a real theory exam is not published; reading four options takes a minute and a half.
MINUTES_A_QUESTION = 1.5


@dataclass(frozen=True)
class Paper(Timed):
    """One theory paper; ``Timed`` explains its times.

    asked: topic and key (``QuizQuestion.key``) of each question. answers: letters by key; open questions have none.
    """

    seed: int
    minutes: float | None
    started: float
    seen: float
    asked: tuple[tuple[str, str], ...]
    answers: Mapping[str, str] = field(default_factory=dict)
    finished: float | None = None

    def at(self, now: float) -> Paper:
        """Return this paper as it is at ``now``: finished at its deadline, if that has passed."""
        if self.finished is not None:
            return self
        if self.deadline is not None and max(now, self.seen) >= self.deadline:
            return replace(self, seen=max(now, self.seen), finished=self.deadline)
        return replace(self, seen=max(now, self.seen))

    def answered(self, key: str, letters: str, now: float) -> Paper:
        """Return this paper with one answer; "" leaves the question open.

        A finished paper keeps its answers, and an answer to a question that it does not ask is ignored.
        """
        there = self.at(now)
        if there.finished is not None or key not in {one for _, one in self.asked}:
            return there
        others = {name: chosen for name, chosen in there.answers.items() if name != key}
        return replace(there, answers=others | ({key: letters} if letters else {}))

    def handed_in(self, now: float) -> Paper:
        """Return this paper, finished at ``now``, or at its deadline if that has passed.

        A paper that was finished before is returned as it is.
        """
        there = self.at(now)
        return there if there.finished is not None else replace(there, finished=there.seen)

    def questions(self, bank: Bank) -> tuple[tuple[Topic, QuizQuestion], ...]:
        """Return the topic and question of each entry of ``asked``, without questions that the bank no longer has."""
        by_key = {(topic.name, one.key): (topic, one) for topic in bank.topics for one in topic.questions}
        return tuple(by_key[pair] for pair in self.asked if pair in by_key)


def draw(
    bank: Bank, seed: int, now: float, *, topics: Sequence[str] = (), count: int = QUESTIONS, minutes: float | None
) -> Paper:
    """Return a paper that begins ``now``, with ``count`` questions, or with all if the topics have fewer.

    The topics get equal shares: the counts of two topics differ by more than one only if one of the two has no more
    questions. topics: their names; empty: all. The same seed, topics, count and bank give the same questions. Raises
    ArgumentError for an unknown topic, or a count or minutes out of range.
    """
    if count < 1:
        raise ArgumentError(f"a paper cannot have {count} questions", hint=f"--count {QUESTIONS}")
    if minutes is not None and not 0 < minutes <= 24 * 60:
        raise ArgumentError(f"a paper cannot last {minutes:g} minutes", hint="more than 0, a day at most")
    chosen = [bank.topic(name) for name in dict.fromkeys(topics)] or list(bank.topics)
    dice = random.Random(seed)
    waiting = {topic.name: dice.sample(topic.questions, len(topic.questions)) for topic in chosen}
    asked: list[tuple[str, str]] = []
    while len(asked) < count and any(waiting.values()):
        # A round takes one question of each topic that has any left. The last takes one of some topics, at random.
        names = [name for name, rest in waiting.items() if rest]
        for name in dice.sample(names, min(len(names), count - len(asked))):
            asked.append((name, waiting[name].pop().key))
    dice.shuffle(asked)
    return Paper(seed, minutes, now, now, tuple(asked))
