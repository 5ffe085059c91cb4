"""The progress of a class by objective: how many learners have reached it, have half of it, have begun it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib
from matplotlib.figure import Figure

from gn_tutorial.plot.picture import FAINT, INK, SMALL, STYLE, WIDTH, Picture, heading
from gn_tutorial.profiler.palette import CHOSEN, FASTER

if TYPE_CHECKING:  # only this picture needs the classroom
    from gn_tutorial.course.classroom.class_report import ClassReport

# Height in inches of one bar, and of the title and the axis.
_BAR, _AROUND = 0.25, 1.5


def class_goals(report: ClassReport) -> Picture:
    """Draw a bar for each objective, in three parts; the full length is the number of learners."""
    found, size = report.goals(), len(report.learners)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, _AROUND + _BAR * len(found)), layout="constrained")
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
