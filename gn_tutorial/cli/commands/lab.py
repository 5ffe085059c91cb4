"""``gnt lab``: opens JupyterLab on the learner's copies of the notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.errors import ArgumentError

_THEIRS = "write an option of JupyterLab as --name=value"


def lab(
    context: typer.Context,
    notebook: Annotated[str, typer.Argument(help="Which one to open, for example 03. Default: the first.")] = "",
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Default: 8888, or the next free one.")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, and open nothing.")] = False,
    folder: Annotated[
        Path | None, typer.Option(help="Where your copies are. Default: $GNT_COURSE_DIR, or what is printed.")
    ] = None,
    reset: Annotated[
        bool, typer.Option("--reset", help="Restore the course's NOTEBOOK; yours is kept beside it.")
    ] = False,
    copies: Annotated[
        bool, typer.Option("--copies", help="Make or update the copies, say what is new, and start nothing.")
    ] = False,
) -> None:
    """Open JupyterLab on your copies of the notebooks.

    Missing copies are made. A copy follows the course until you write in it; what you wrote is never overwritten. A
    copy omits the stored answers below a prediction; they appear when you run the cell.
    Options of JupyterLab itself, such as --ip=0.0.0.0, are passed on.
    """
    from gn_tutorial.cli.lab_session import Wish, open_lab

    given = [word for word in (notebook, *context.args) if word]
    ours, theirs = ([word for word in given if word.startswith("-") is theirs] for theirs in (False, True))
    if len(ours) > 1:
        raise ArgumentError(f"gnt lab opens one notebook, not {len(ours)}", where=" ".join(ours), hint=_THEIRS)
    open_lab(Wish("".join(ours), folder, port, not no_browser, reset, copies, tuple(theirs)))


COMMAND = Command("lab", lab, Panel.LEARN, 15, rest=True)
