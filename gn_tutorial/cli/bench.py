"""``gnt bench`` and ``gnt tune``. As in ``cli``, commands import what they need when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.options import Many, Seed

Groups = Annotated[int | None, typer.Option(help="Short for --set num_groups=..., with --shape.")]
Settings = Annotated[Many, typer.Option("--set", help="An attribute of the operator, with --shape: eps=1e-3.")]
Dtype = Annotated[str, typer.Option(help="dtype of the data inputs, with --shape.")]
MachineName = Annotated[
    str, typer.Option(help="910B1, 910B2, 910B3, 910B4, or a .toml file of your own. Default: 910B2.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def bench(
    operator: Annotated[str, typer.Argument(metavar="[OP]", help="A registered operator.")] = "group_norm",
    shape: Annotated[Many, typer.Option(help="A shape of your own instead of the grid's; may be repeated.")] = None,
    groups: Groups = None,
    settings: Settings = None,
    dtype: Dtype = "",
    kernel: Annotated[Many, typer.Option(help="Only this kernel; may be repeated. Default: the whole ladder.")] = None,
    kind: Annotated[Many, typer.Option(help="Only the grid's shapes of this kind; may be repeated.")] = None,
    machine: MachineName = "",
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
    from gn_tutorial.cli.commands import bench

    question = bench.Question(
        operator, shape or (), groups, settings or (), dtype, kernel or (), kind or (), machine, seed, everything
    )
    pictures = bench.Drawing(plot, plot_shape)
    good = bench.run(question, out=out, read=read, drawing=pictures, as_json=json, as_csv=csv)
    if check and not good:
        raise typer.Exit(1)


def tune(
    kernel: Annotated[str, typer.Argument(help="A registered kernel whose operator has a tiling struct.")],
    shape: Annotated[str, typer.Option(help="Shape of the first input. Default: the operator's example.")] = "",
    groups: Groups = None,
    settings: Settings = None,
    dtype: Dtype = "",
    field: Annotated[
        str, typer.Option(help="The tiling field to change. Default: that of the operator's bench.toml.")
    ] = "",
    values: Annotated[str, typer.Option(help="Values to try: 512,1024,2048. Default: a series up to what fits.")] = "",
    machine: MachineName = "",
    seed: Seed = 0,
    plot: Annotated[
        Path | None, typer.Option(help="Write a picture, time against the field's value: FILE.png.")
    ] = None,
    json: Json = False,
) -> None:
    """Try values of one field of the tiling struct and say which is modelled fastest, beside the host function's own.

    Every candidate is launched and compared with the reference; one that the twin refuses (it does not fit into the
    Unified Buffer) is shown with its reason. Exit code 1 if no candidate ran.
    """
    from gn_tutorial.cli.commands import tune

    if not tune.run(
        tune.Question(kernel, shape, groups, settings or (), dtype, field, values, machine, seed),
        plot=plot,
        as_json=json,
    ):
        raise typer.Exit(1)
