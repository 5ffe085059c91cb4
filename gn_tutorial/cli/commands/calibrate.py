"""``gnt dev calibrate``: shows the timing model's figures beside the published ones, as a table or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json, Many
from gn_tutorial.cli.terminal import emit_json, print_table, working
from gn_tutorial.timing.machine import load_machine, machines

if TYPE_CHECKING:
    from gn_tutorial.profiler.calibration import CalibrationRow


def calibrate(
    series: Annotated[
        Many,
        typer.Argument(help="A series, or a case such as add/3; everything if none is named. A wrong name lists them."),
    ] = None,
    machine: Annotated[
        str, typer.Option(help=f"A machine other than the measured one: {', '.join(machines())}, or a .toml file.")
    ] = "",
    json: Json = False,
) -> None:
    """Compare the timing model with published measurements, by running our own kernels for the published cases.

    Exit code 1 if a target was missed.
    """
    if not run(series or [], machine, as_json=json):
        raise typer.Exit(1)


def run(series: Sequence[str], machine: str, *, as_json: bool) -> bool:
    """Run the given series and cases, or all series, and print their times beside the published ones.

    Returns whether no target was missed.
    """
    from gn_tutorial.profiler.calibration import HEADERS, SERIES, rows_of

    chosen = load_machine(machine) if machine else None
    found: dict[str, list[CalibrationRow]] = {}
    for name in series or SERIES:
        with working(f"running the calibration kernels of '{name}'"):
            found[name] = list(rows_of(name, chosen))
    rows = [row for part in found.values() for row in part]
    if as_json:
        emit_json([row.facts() for row in rows])
    else:
        for name, part in found.items():
            print_table(HEADERS, [row.cells() for row in part], title=f"{name}: published and modelled")
        missed = [row for row in rows if row.verdict == "missed"]
        held = sum(row.verdict == "ok" for row in rows)
        print("fitted: a constant of the model was taken from this case; predicted: none was.")
        print(f"{held} of {held + len(missed)} targets held. Modelled figures; none was measured here.")
        print("What each case is, where the figures come from and why some are off: docs/timing-model.md")
    return not any(row.verdict == "missed" for row in rows)


COMMAND = Command("calibrate", calibrate, Panel.DEV, 20, old_names=("calibrate",))
