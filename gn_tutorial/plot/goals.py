"""Draw a learner's progress: one bar an objective, by topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib
from matplotlib.figure import Figure

from gn_tutorial.plot.picture import FAINT, INK, SMALL, STYLE, WIDTH, Picture, heading
from gn_tutorial.profiler.palette import CHOSEN, FASTER

if TYPE_CHECKING:  # only this picture needs the exam
    from gn_tutorial.course.exam.goals_report import GoalsReport
    from gn_tutorial.course.exam.objective_progress import Standing

# Height in inches of one bar, and of the title and the axis.
_BAR, _AROUND = 0.23, 1.2


def goals(report: GoalsReport) -> Picture:
    """Draw a bar for each objective, from 0 to 100 %, grouped by topic; proposed objectives have another colour."""
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


def _words(groups: dict[str, list[Standing]], report: GoalsReport) -> str:
    told = [
        f"{title}: " + ", ".join(f"{one.goal.title} {one.share:.0%}" for one in mine) for title, mine in groups.items()
    ]
    return f"{report.reached()}. {'; '.join(told)}."
