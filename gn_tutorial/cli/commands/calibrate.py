"""``gnt dev calibrate``: the timing model beside the published figures, as a table or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json, Many
from gn_tutorial.cli.terminal import emit_json, print_table, working
from gn_tutorial.timing.machine import load_machine, machines

if TYPE_CHECKING:
    from gn_tutorial.profiler.calibration import CalibrationRow

_HEADERS = ("case", "what", "metric", "measured", "modelled", "error", "is", "target", "verdict")


def calibrate(
    series: Annotated[
        Many,
        typer.Argument(help="A series, or a case such as add/3; everything if none is named. A wrong name lists them."),
    ] = None,
    machine: Annotated[
        str, typer.Option(help=f"A machine other than the measured one: {', '.join(machines())}, or a .toml file.")
    ] = "",
    sources: Annotated[
        Path | None,
        typer.Option(
            envvar="GNT_OPS_NN",
            help="A checkout of ops-nn: run the production operators of 'silicon' instead of showing what is stored.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compare the timing model with published measurements, of our own kernels and of production operators.

    Exit code 1 if a target was missed.
    """
    if not run(series or [], machine, sources, as_json=json):
        raise typer.Exit(1)


def run(series: Sequence[str], machine: str, sources: Path | None = None, *, as_json: bool) -> bool:
    """Compare the series and cases that are named, or all series. Returns whether no target was missed.

    sources: a checkout of ops-nn; without it, what is stored of its operators.
    """
    from gn_tutorial.profiler.calibration import SERIES, rows_of
    from gn_tutorial.projects import silicon

    chosen = load_machine(machine) if machine else None
    found: dict[str, list[CalibrationRow]] = {}
    # Stored figures are of one chip, so that they say nothing of another.
    shown = (*SERIES, silicon.SERIES) if sources or not chosen else SERIES
    for name in series or shown:
        with working(f"running the calibration kernels of '{name}'"):
            if name.split("/")[0] == silicon.SERIES:
                found[name] = list(silicon.silicon_rows(name, chosen, sources))
            else:
                found[name] = list(rows_of(name, chosen))
    rows = [row for part in found.values() for row in part]
    if as_json:
        emit_json([{**row._asdict(), "error": row.error, "verdict": row.verdict} for row in rows])
    else:
        for name, part in found.items():
            print_table(_HEADERS, [_cells(row) for row in part], title=f"{name}: published and modelled")
        missed = [row for row in rows if row.verdict == "missed"]
        held = sum(row.verdict == "ok" for row in rows)
        print("fitted: a constant of the model was taken from this case; predicted: none was.")
        print(f"{held} of {held + len(missed)} targets held. Modelled figures; none was measured here.")
        print("What each case is, where the figures come from and why some are off: docs/timing-model.md")
    return not any(row.verdict == "missed" for row in rows)


def _cells(row: CalibrationRow) -> tuple[str, ...]:
    target = "" if row.target is None else f"within {row.target:g} %"
    what = f"{row.what} ({row.note})" if row.note else row.what
    return (
        row.case,
        what,
        row.metric,
        f"{row.measured:,.2f} {row.unit}",
        f"{row.modelled:,.2f}",
        f"{row.error:+.1f} %",
        "fitted" if row.used else "predicted",
        target,
        row.verdict,
    )


COMMAND = Command("calibrate", calibrate, Panel.DEV, 20, old_names=("calibrate",))
