"""``gnt grade``: checks that an operator is right on every shape, and shows how near its time is to the bound."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json, Waits, WaitsOption
from gn_tutorial.cli.terminal import emit_json, print_table


def grade_folder(
    folder: Annotated[Path, typer.Argument(help="A folder that gnt new made, or a registered operator.")],
    waits: WaitsOption = Waits.COMPILER,
    json: Json = False,
) -> None:
    """Grade an operator: whether it is right on every shape, without findings, also with --strict, and how fast it is.

    Its share of the modelled bound is the geometric mean over the grid: 50 % passes, 70 % is a distinction. Exit code 1
    if it does not pass. A capstone is graded with the course's own reference, tolerance and shapes.
    """
    from gn_tutorial.cli.bench_grid import progress
    from gn_tutorial.course.capstone.grade import HEADERS
    from gn_tutorial.course.capstone.grading import grade

    with progress() as tell:
        made = grade(folder, explicit_waits=waits is Waits.EXPLICIT, tell=tell)
    if json:
        emit_json({"operator": made.operator, "mark": made.mark, "share": made.share, "rows": made.rows,
                   "losses": made.losses, "address_spaces": made.spaces})  # fmt: skip
    else:
        print_table(HEADERS, [row.cells() for row in made.rows], right=HEADERS[3:])
        print(made.verdict())
        print(made.advice())
        if made.spaces:
            print(made.spaces)
    if not made.passed:
        raise typer.Exit(1)


COMMAND = Command("grade", grade_folder, Panel.LEARN, 37)
