"""``gnt bench``: every kernel of an operator on a grid of shapes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import GridDtype, GridGroups, GridSettings, MachineName, Many, Seed
from gn_tutorial.cli.pictures import check_paths
from gn_tutorial.errors import ArgumentError
from gn_tutorial.timing.machine import DEFAULT_MACHINE

if TYPE_CHECKING:
    from gn_tutorial.bench.run import Bench

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def bench(
    operator: Annotated[str, typer.Argument(metavar="[OP]", help="A registered operator.")] = "group_norm",
    shape: Annotated[Many, typer.Option(help="A shape of your own instead of the grid's; may be repeated.")] = None,
    groups: GridGroups = None,
    settings: GridSettings = None,
    dtype: GridDtype = "",
    kernel: Annotated[Many, typer.Option(help="Only this kernel; may be repeated. Default: the whole ladder.")] = None,
    kind: Annotated[Many, typer.Option(help="Only the grid's shapes of this kind; may be repeated.")] = None,
    machine: MachineName = DEFAULT_MACHINE,
    seed: Seed = 0,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what takes minutes: kernels of scalar loops on large shapes.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Write FILE.json, and FILE.csv beside it; {date} in the name becomes today's date."),
    ] = None,
    read: Annotated[Path | None, typer.Option(help="Show this FILE.json again instead of running anything.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Write a picture of the ladder on one shape (--plot-shape): FILE.png.")
    ] = None,
    plot_shape: Annotated[
        str, typer.Option(help="The picture's shape, as the table names it. Default: the first with two steps.")
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Exit code 1 if a target is missed or a kernel fails.")
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of tables.")] = False,
    json: Json = False,
) -> None:
    """Model every kernel of an operator on a grid of shapes: time, lower bound, ratio, binding limit, targets.

    The grid and the targets are data, in kernels/OP/bench.toml; the ladder is that of op.toml. The bound is the least
    that any kernel needs to move the data (docs/benchmark.md). The grid of group_norm takes some minutes. Modelled,
    never measured: no NPU is asked.
    """
    from gn_tutorial.bench import files
    from gn_tutorial.bench.grid import load_grid
    from gn_tutorial.cli.bench_grid import GridRequest, ask, find_op
    from gn_tutorial.cli.bench_report import show

    question = GridRequest(
        operator, shape or (), groups, settings or (), dtype, kernel or (), kind or (), machine, seed, everything
    )
    if json and csv:
        raise ArgumentError("--json and --csv: one of them")
    check_paths(plot)
    if plot is None and plot_shape:
        raise ArgumentError("--plot-shape belongs to a picture", hint="--plot FILE.png")
    if read is not None and (out is not None or question != GridRequest(question.op)):
        raise ArgumentError("--read shows a file as it is", hint="without --shape, --kernel, --machine, --out ...")
    out = None if out is None else files.check_path(out)
    if read is not None:
        made = files.load(read)
        op = find_op(made.operator)
        grid = load_grid(op)
        known = {case.label(op) for case in grid.cases}
        if not known <= {row.case for row in made.rows}:
            grid = replace(grid, targets=())  # a part of the grid cannot be held to the targets of all of it
    else:
        made, grid = ask(question)
    if plot is not None:
        from gn_tutorial.plot.ladder import ladder_of

        ladder_of(made, plot_shape or _first_ladder(made)).save(plot)
    good = show(made, grid, out=out, as_json=json, as_csv=csv)
    if check and not good:
        raise typer.Exit(1)


def _first_ladder(bench: Bench) -> str:
    """The first shape with the most kernels that ran."""
    from gn_tutorial.bench.run import rows_that_ran

    counts = dict.fromkeys(bench.cases, 0)
    for row in rows_that_ran(bench.rows):
        counts[row.case] += 1
    return max(counts, key=counts.__getitem__)


COMMAND = Command("bench", bench, Panel.REFERENCE, 10)
