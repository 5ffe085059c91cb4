"""``gnt tour``: runs the tour of the kernels and shows its progress, its table, its errors and the picture's path."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json
from gn_tutorial.cli.terminal import emit_json, print_table
from gn_tutorial.toml_file import PACKAGE

if TYPE_CHECKING:
    from gn_tutorial.cli.photo_tour import TourReport

#: The default folder of the picture, below the current folder.
DEFAULT_FOLDER = Path("tour-output")


def tour(
    photo: Annotated[Path | None, typer.Argument(help="A photograph; one is supplied.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the picture.")] = None,
    json: Json = False,
) -> None:
    """Normalise a photograph's feature map with every forward kernel, run the last backward kernel, and check each."""
    from gn_tutorial.cli.photo_tour import HEADERS, NUMBERS

    report = _run(photo, DEFAULT_FOLDER if out is None else out)
    if json:
        emit_json(report.as_dict())
    else:
        print_table(HEADERS, report.cells(), title=report.title(), right=NUMBERS)
        for row in report.rows:
            if row.message:
                print(f"{row.kernel} on {row.dtype}: {row.message}")
        if report.picture:
            print(f"picture: {report.picture}")
        if report.ok:
            print(f"next: {_next_command()}")
    if not report.ok:
        raise typer.Exit(1)


def _run(photo: Path | None, out: Path) -> TourReport:
    """Run the tour and show its progress. Raises what ``gn_tutorial.cli.photo_tour.run`` raises."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    from gn_tutorial.cli.photo_tour import run

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("starting", total=None)

        def progress(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)
            if not bar.console.is_terminal:
                print(f"gnt: [{done}/{total}] {what}", file=sys.stderr, flush=True)

        return run(photo, out, progress=progress)


def _next_command() -> str:
    """Return the command to type after the tour. In a clone it begins with ``./``, and installs JupyterLab first."""
    clone = (PACKAGE.parent / "gnt").is_file()
    return f"{'./' * clone}gnt lab (the first notebook)"


COMMAND = Command("tour", tour, Panel.LEARN, 10)
