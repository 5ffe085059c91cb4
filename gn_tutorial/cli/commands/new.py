"""``gnt new``: makes the folder of a learner's own operator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel


def new(
    folder: Annotated[Path, typer.Argument(metavar="NAME", help="The folder to make; its name is the operator's.")],
    operator: Annotated[
        str, typer.Option(help="softmax, layer_norm, rms_norm: the capstone. own: your own reference.")
    ] = "own",
) -> None:
    """Begin an operator of your own: kernel, tiling header, op.toml, reference, shapes, test.

    The files run as they are; YOUR TURN marks the places where you write code. gnt run, profile, bench, tune and grade
    take the folder.
    """
    from gn_tutorial.course.capstone.starter import new_operator

    made = new_operator(folder, operator)
    for path in sorted(made.iterdir()):
        turns = path.read_text("utf-8").count("YOUR TURN")
        print(f"{path}{': YOUR TURN' if turns else ''}")
    print(f"next: write Compute in {made / made.name}.cpp, then gnt run {made}, then gnt grade {made}")


COMMAND = Command("new", new, Panel.LEARN, 36)
