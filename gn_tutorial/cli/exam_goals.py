"""``gnt exam goals``: the objectives, how far the learner is with each, and what to do next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.options import Json
from gn_tutorial.cli.terminal import emit_json, print_table, working


def exam_goals(
    plot: Annotated[Path | None, typer.Option(help="Draw a bar for each objective into this .png file.")] = None,
    json: Json = False,
) -> None:
    """Show what you can do after the course and for the exam, how far you are, and three things to do next."""
    from gn_tutorial.cli.pictures import check_paths
    from gn_tutorial.course.exam import goals_report

    check_paths(plot)
    report = goals_report.exam_goals()
    if plot is not None:
        with working(f"drawing {plot}"):
            from gn_tutorial.plot.objectives import goals

            goals(report).save(plot)
    if json:
        emit_json(report.record())
        return
    print_table(goals_report.HEADERS, report.rows(), title=report.reached())
    print("\n".join(report.next_lines()))
    if plot is not None:
        print(f"picture: {plot}")
