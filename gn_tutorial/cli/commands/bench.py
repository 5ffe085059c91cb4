"""``gnt bench``: models every kernel of an operator on a grid of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import (
    Arg,
    Blocks,
    Entry,
    GridDtype,
    GridGroups,
    GridSettings,
    In,
    Inout,
    Like,
    MachineName,
    Many,
    Seed,
    Workspace,
)
from gn_tutorial.cli.pictures import check_paths
from gn_tutorial.errors import ArgumentError
from gn_tutorial.timing.machine import DEFAULT_MACHINE

if TYPE_CHECKING:
    from gn_tutorial.profiler.bench.grid import Grid
    from gn_tutorial.profiler.bench.run import Bench

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def bench(
    operator: Annotated[
        str,
        typer.Argument(
            metavar="[OP]", help="A registered operator, a folder of gnt new, a .cpp file, or an operator project."
        ),
    ] = "group_norm",
    shape: Annotated[Many, typer.Option(help="A shape of your own instead of the grid's; may be repeated.")] = None,
    groups: GridGroups = None,
    settings: GridSettings = None,
    dtype: GridDtype = "",
    kernel: Annotated[Many, typer.Option(help="Only this kernel; may be repeated. Default: the whole ladder.")] = None,
    over: Annotated[
        Many,
        typer.Option(
            help="Sizes of a file's or a project's arrays: --in 'float16[8,n]' --over n=100,2000. May be repeated."
        ),
    ] = None,
    inputs: In = None,
    arg: Arg = None,
    inout: Inout = None,
    workspace: Workspace = None,
    entry: Entry = "",
    like: Like = "",
    blocks: Blocks = None,
    kind: Annotated[Many, typer.Option(help="Only the grid's shapes of this kind; may be repeated.")] = None,
    machine: MachineName = DEFAULT_MACHINE,
    seed: Seed = 0,
    everything: Annotated[
        bool, typer.Option("--all", help="Also run what takes minutes: kernels with scalar loops on large shapes.")
    ] = False,
    out: Annotated[
        Many,
        typer.Option(
            help="Write FILE.json, and FILE.csv beside it; {date} in the name becomes today's date. "
            "Of a .cpp file also its output, as in gnt run: y=float32[n]."
        ),
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
    """Model kernels on a grid of shapes: time, lower bound, ratio, binding limit, targets.

    For a registered operator, every kernel of its ladder is modelled. A .cpp file is modelled beside the registered
    kernel that --like names, on the operator's grid. A file or an operator project alone is modelled on the sizes of
    --over.

    The grid and the targets are data, in kernels/OP/bench.toml; op.toml has the ladder. The bound is the shortest time
    in which any kernel could move the data (docs/benchmark.md). The grid of group_norm takes some minutes. All times
    are modelled, not measured on an NPU.
    """
    from gn_tutorial.cli.bench_grid import GridRequest, ask
    from gn_tutorial.cli.bench_report import show
    from gn_tutorial.cli.own_kernel_bench import own_bench
    from gn_tutorial.cli.profile_arguments import ProfileRequest, arrays_of
    from gn_tutorial.cli.run_arguments import is_file, refuse
    from gn_tutorial.operators.registry import is_operator
    from gn_tutorial.profiler.bench import files

    question = GridRequest(
        operator, shape or (), groups, settings or (), dtype, kernel or (), kind or (), machine, seed, everything
    )
    if json and csv:
        raise ArgumentError("--json and --csv exclude each other: give one of them")
    check_paths(plot)
    if plot is None and plot_shape:
        raise ArgumentError("--plot-shape belongs to a picture", hint="--plot FILE.png")
    file, outputs = _split(out or [])
    arrays = arrays_of(arg, outputs, inout, workspace)
    own = ProfileRequest(
        settings=settings or (),
        arrays=arrays if any(arrays.values()) else None,
        entry=entry,
        like=like,
        blocks=blocks,
        seed=seed,
        machine=machine,
        inputs=inputs or (),
    )
    if read is not None and (file is not None or question != GridRequest(question.op) or own != ProfileRequest()):
        raise ArgumentError(
            "--read shows a file as it is, so it takes no options of a run", hint="leave them out: --shape, --out ..."
        )
    file = None if file is None else files.check_path(file)
    if read is not None:
        made = files.load(read)
        grid = _grid_of(made)
    elif is_file(operator) or (Path(operator).is_dir() and not is_operator(operator)):
        made, grid = own_bench(operator, question, own, over or [])
    else:
        words = {f"--{name}": list(texts) or None for name, texts in arrays.items()}
        words |= {"--in": inputs, "--over": over, "--like": like, "--entry": entry, "--blocks": blocks}
        refuse(operator, words)
        made, grid = ask(question)
    if plot is not None:
        from gn_tutorial.plot.ladder import ladder_of

        ladder_of(made, plot_shape or _first_ladder(made)).save(plot)
    good = show(made, grid, out=file, as_json=json, as_csv=csv)
    if check and not good:
        raise typer.Exit(1)


def _split(words: Sequence[str]) -> tuple[Path | None, list[str]]:
    """Return the file to write, which --out names, and the outputs of a .cpp file (``name=dtype[...]``).

    The file is None if no word of --out names one. Raises ArgumentError for two files.
    """
    outputs = [word for word in words if "=" in word and word.endswith("]")]
    paths = [Path(word) for word in words if word not in outputs]
    if len(paths) > 1:
        raise ArgumentError(f"--out {paths[0]} and --out {paths[1]}: only one file can be written")
    return (paths[0] if paths else None), outputs


def _grid_of(made: Bench) -> Grid:
    """Return the grid of the result's operator; an empty grid for a learner's file or project.

    The targets are left out if the result lacks a shape of the grid.
    """
    from gn_tutorial.operators.registry import load_registry
    from gn_tutorial.profiler.bench.grid import Grid, load_grid

    op = load_registry().get(made.operator)
    if op is None:  # a learner's file or project
        return Grid(())
    grid = load_grid(op)
    whole = {case.label(op) for case in grid.cases} <= {row.case for row in made.rows}
    return grid if whole else replace(grid, targets=())


def _first_ladder(bench: Bench) -> str:
    """Return the shape on which the most kernels ran; the first such shape if there are several."""
    from gn_tutorial.profiler.bench.run import rows_that_ran

    counts = dict.fromkeys(bench.cases, 0)
    for row in rows_that_ran(bench.rows):
        counts[row.case] += 1
    return max(counts, key=counts.__getitem__)


COMMAND = Command("bench", bench, Panel.REFERENCE, 10)
