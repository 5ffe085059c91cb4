"""Draws how far a learner, or a class, is with each objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import matplotlib
from matplotlib.figure import Figure

from gn_tutorial.plot.picture import FAINT, INK, SMALL, STYLE, WIDTH, Picture, heading
from gn_tutorial.profiler.palette import CHOSEN, FASTER

# Height in inches of one bar, and of title and axis together.
_BAR, _AROUND = 0.23, 1.2
_CLASS_BAR, _CLASS_AROUND = 0.25, 1.5


# Protocols stand for the reports, because pictures belong to the engine, which does not import the course.
class LearnersReport(Protocol):
    """The report that ``gnt.exam_goals()`` returns (``course/exam/goals_report``), with only the members used here."""

    topics: Mapping[str, str]
    standings: Sequence[Any]
    proposals: Sequence[Any]

    def reached(self) -> str:
        """Return how many objectives are reached, as one sentence."""
        ...


class ReportOfAClass(Protocol):
    """The report of ``gnt class report`` (``course/classroom/class_report``), with only the members used here."""

    learners: Sequence[Any]

    def goals(self) -> Sequence[Any]:
        """Return one row for each objective."""
        ...

    def summary(self) -> str:
        """Return the class in one sentence."""
        ...


def goals(report: LearnersReport) -> Picture:
    """Draw the learner's share of each objective as a bar, by topic. Proposed objectives have another colour."""
    groups = {
        title: mine
        for name, title in report.topics.items()
        if (mine := [one for one in report.standings if one.goal.topic == name])
    }
    proposed = {one.standing.goal.id for one in report.proposals}
    places = sum(map(len, groups.values())) + len(groups)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, _AROUND + _BAR * places), layout="constrained")
        axis = figure.subplots()
        labels: dict[int, str] = {}
        place = 0
        for title, mine in groups.items():
            axis.text(0.0, place, title, va="center", fontsize=SMALL, fontweight="bold", color=INK)
            for one in mine:
                place += 1
                labels[place] = one.goal.title
                colour = CHOSEN if one.goal.id in proposed else FASTER
                axis.barh(place, 1.0, height=0.7, color="white", edgecolor=FAINT, linewidth=0.5)
                axis.barh(place, one.share, height=0.7, color=colour)
                axis.text(1.01, place, f"{one.share:.0%}", va="center", fontsize=SMALL, color=INK)
            place += 1
        axis.set_yticks(list(labels), list(labels.values()))
        axis.tick_params(axis="y", length=0)
        axis.set_ylim(place - 0.4, -0.6)
        axis.set_xlim(0, 1.08)
        axis.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
        axis.set_xlabel("exercises, quiz, theory and exam tasks, each kind with the same weight")
        axis.spines[["top", "right", "left"]].set_visible(False)
        heading(axis, "Objectives of course and exam", report.reached())
    return Picture(figure, _words(groups, report))


def class_goals(report: ReportOfAClass) -> Picture:
    """Draw a bar for each objective: how many learners have reached it, are half way or further, or have begun."""
    found, size = report.goals(), len(report.learners)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, _CLASS_AROUND + _CLASS_BAR * len(found)), layout="constrained")
        axis = figure.subplots()
        places = range(len(found))
        axis.barh(places, [size] * len(found), height=0.7, color="white", edgecolor=FAINT, linewidth=0.5)
        begin = [0] * len(found)
        for label, colour, deep, parts in (
            ("reached", FASTER, 1.0, [one.reached for one in found]),
            ("half and more", FASTER, 0.5, [one.half for one in found]),
            ("begun", CHOSEN, 1.0, [one.begun for one in found]),
        ):
            axis.barh(places, parts, left=begin, height=0.7, color=colour, alpha=deep, linewidth=0, label=label)
            begin = [one + part for one, part in zip(begin, parts, strict=True)]
        for place, one in enumerate(found):
            axis.text(size * 1.01, place, f"{one.mean:.0%}", va="center", fontsize=SMALL, color=INK)
        axis.set_yticks(list(places), [one.goal.title for one in found])
        axis.tick_params(axis="y", length=0)
        axis.set_ylim(len(found) - 0.4, -0.6)
        axis.set_xlim(0, size * 1.08)
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.set_xlabel("learners; at the right the mean of their shares")
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=3, frameon=False)
        heading(axis, "Objectives of a class", report.summary())
    told = "; ".join(
        f"{one.goal.title}: {one.reached} reached, {one.half} half and more, {one.begun} begun, {one.mean:.0%}"
        for one in found
    )
    return Picture(figure, f"{report.summary()}. {told}.")


def _words(groups: dict[str, list[Any]], report: LearnersReport) -> str:
    told = [
        f"{title}: " + ", ".join(f"{one.goal.title} {one.share:.0%}" for one in mine) for title, mine in groups.items()
    ]
    return f"{report.reached()}. {'; '.join(told)}."
