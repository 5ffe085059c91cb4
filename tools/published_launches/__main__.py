"""``python -m tools.published_launches`` shows published launches of production operators beside the timing model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.options import Json, Many
from gn_tutorial.cli.terminal import emit_json, print_table, working
from gn_tutorial.profiler.calibration import HEADERS, CalibrationRow
from gn_tutorial.timing.machine import load_machine, machines
from tools.command import run
from tools.published_launches.launches import rows_of


def compare(
    launches: Annotated[
        Many,
        typer.Argument(
            help="An operator, or a launch such as rms_norm/4; all if none is named. A wrong name lists them."
        ),
    ] = None,
    machine: Annotated[
        str, typer.Option(help=f"A machine other than the measured one: {', '.join(machines())}, or a .toml file.")
    ] = "",
    sources: Annotated[
        Path | None,
        typer.Option(
            envvar="GNT_OPS_NN",
            help="A checkout of ops-nn: run its operators with their own tilings instead of showing what is stored.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compare the timing model with published launches of four production operators of ops-nn."""
    chosen = load_machine(machine) if machine else None
    rows: list[CalibrationRow] = []
    for name in launches or [""]:
        with working(f"running the launches of {name or 'all operators'}"):
            rows += rows_of(name, chosen, sources)
    if json:
        emit_json([row.facts() for row in rows])
        return
    print_table(HEADERS, [row.cells() for row in rows], title="published launches, measured and modelled")
    print("fitted: a constant of the model was taken from this launch; predicted: none was.")
    print("Modelled figures; none was measured here. Which are outside the error band, and why: docs/timing-model.md")


if __name__ == "__main__":
    run(compare, "tools.published_launches")
