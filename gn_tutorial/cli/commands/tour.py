"""``gnt tour``: progress while it runs, then its table, what went wrong, and where the picture is."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from gn_tutorial.cli import tour
from gn_tutorial.cli.terminal import emit_json

#: Where the picture goes unless told, below the current folder.
DEFAULT_FOLDER = Path("tour-output")


def run(photo: Path | None, out: Path | None, *, as_json: bool) -> bool:
    """Run the tour and print its report; returns whether every kernel is right. Raises what ``tour.run`` raises."""
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

        report = tour.run(photo, DEFAULT_FOLDER if out is None else out, progress=progress)
    if as_json:
        emit_json(report.as_dict())
        return report.ok
    Console(width=None if sys.stdout.isatty() else 200).print(report.table())
    for row in report.rows:
        if row.message:
            print(f"{row.kernel} on {row.dtype}: {row.message}")
    if report.picture:
        print(f"picture: {report.picture}")
    return report.ok
