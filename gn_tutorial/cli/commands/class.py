"""``gnt class``: reports the progress of a class from the files that its learners handed in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json
from gn_tutorial.cli.terminal import emit_json, print_table, working

class_app = typer.Typer(help="How far a class is.", no_args_is_help=True)
_SHOWN = 20


@class_app.callback()
def _class() -> None:
    """How far a class is."""


@class_app.command("report")
def report(
    folder: Annotated[Path, typer.Argument(help="A folder with the files of gnt progress export.")],
    csv: Annotated[Path | None, typer.Option(help="Write a line for each learner into this file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw a bar for each objective into this .png file.")] = None,
    json: Json = False,
) -> None:
    """Show how many learners have reached or begun each objective, from the progress that they chose to hand in.

    Damaged files, and files that hold something else, are named and do not count.
    """
    from gn_tutorial.cli.pictures import check_paths
    from gn_tutorial.course.classroom.class_report import HEADERS, class_report
    from gn_tutorial.errors import ArgumentError

    check_paths(plot)
    found = class_report(folder)
    if csv is not None:
        try:
            csv.write_text(found.csv(), encoding="utf-8")
        except OSError as error:
            raise ArgumentError(f"the table cannot be written: {error.strerror}", where=str(csv)) from error
    if plot is not None:
        with working(f"drawing {plot}"):
            from gn_tutorial.plot.objectives import class_goals

            class_goals(found).save(plot)
    if json:
        emit_json(found.record())
        return
    print_table(HEADERS, found.rows(), title=found.summary(), right=HEADERS[1:])
    print("\n".join(found.notes), end="\n" * bool(found.notes))
    if found.aside:
        print(f"not counted: {len(found.aside)}")
        print("\n".join(f"  {one.path}: {one.why}" for one in found.aside[:_SHOWN]))
        print(f"  and {len(found.aside) - _SHOWN} more" if len(found.aside) > _SHOWN else "", end="")
    for what, path in (("table", csv), ("picture", plot)):
        if path is not None:
            print(f"{what}: {path}")


COMMAND = Command("class", class_app, Panel.TEACH, 20)
