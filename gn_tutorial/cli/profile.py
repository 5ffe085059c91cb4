"""``gnt profile`` and ``gnt diff``. As in ``cli``, commands import what they need when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gn_tutorial.cli.options import (
    Arg,
    Blocks,
    Define,
    Dtype,
    Entry,
    Groups,
    Inout,
    Json,
    Many,
    Out,
    Seed,
    Settings,
    Shape,
    Target,
    Template,
    Types,
    Workspace,
)

Like = Annotated[str, typer.Option(help="A file takes the arguments of this registered kernel: --shape then applies.")]
MachineName = Annotated[str, typer.Option(help="910B1, 910B2, 910B3, 910B4, or a .toml file of your own.")]
Warm = Annotated[bool, typer.Option("--warm", help="What fits into the L2 cache is there before the launch.")]
Record = Annotated[
    str, typer.Option(help="Blocks to record: 8 (evenly spread), or which: 0,5. Default: 8, fewer if large.")
]


def profile(
    target: Target,
    shape: Shape = "",
    groups: Groups = None,
    settings: Settings = None,
    dtype: Dtype = "",
    arg: Arg = None,
    out: Out = None,
    inout: Inout = None,
    workspace: Workspace = None,
    entry: Entry = "",
    template: Template = "",
    types: Types = None,
    define: Define = None,
    like: Like = "",
    blocks: Blocks = None,
    seed: Seed = 0,
    machine: MachineName = "",
    warm: Warm = False,
    record: Record = "",
    plot: Annotated[Path | None, typer.Option(help="Write a picture: FILE.png.")] = None,
    picture: Annotated[
        str,
        typer.Option(
            help="Which: pipes (of one core, over time), cores (all of them), ub (what the Unified Buffer holds when), "
            "gm (which addresses are touched when), limits, roofline."
        ),
    ] = "pipes",
    block: Annotated[int | None, typer.Option(help="The picture's block; the slowest unless told.")] = None,
    window: Annotated[str, typer.Option(help="The picture's part of the time, in us: 0.5,2.")] = "",
    trace: Annotated[
        Path | None, typer.Option(help="Write a timeline for Perfetto and MindStudio Insight: FILE.json.")
    ] = None,
    json: Json = False,
) -> None:
    """Model how long the chip would take for a kernel, and why: a table, a picture, a timeline.

    Modelled, never measured: no NPU is asked. Exit code 1 if what a registered kernel computes is wrong.
    """
    from gn_tutorial.cli.commands import profile

    question = profile.Question(
        shape, groups, settings or (), dtype, _arrays(arg, out, inout, workspace), entry, template, types or (),
        define or (), like, blocks, seed, machine, warm, record,
    )  # fmt: skip
    view = profile.View(picture, block, window)
    if not profile.show(target, question, view, plot, trace, as_json=json):
        raise typer.Exit(1)


def diff(
    first: Target,
    second: Target,
    shape: Shape = "",
    groups: Groups = None,
    settings: Settings = None,
    dtype: Dtype = "",
    arg: Arg = None,
    out: Out = None,
    inout: Inout = None,
    workspace: Workspace = None,
    template: Template = "",
    types: Types = None,
    define: Define = None,
    like: Like = "",
    blocks: Blocks = None,
    seed: Seed = 0,
    machine: MachineName = "",
    warm: Warm = False,
    record: Record = "",
    plot: Annotated[Path | None, typer.Option(help="Write a picture of both times: FILE.png.")] = None,
    json: Json = False,
) -> None:
    """Compare two kernels on the same input: modelled time, busy pipes, bytes, instructions, binding limit.

    A ratio is the second by the first. A file beside a registered kernel takes its arguments. Exit code 1 if what one
    of them computes is wrong.
    """
    from gn_tutorial.cli.commands import profile

    question = profile.Question(
        shape, groups, settings or (), dtype, _arrays(arg, out, inout, workspace), "", template, types or (),
        define or (), like, blocks, seed, machine, warm, record,
    )  # fmt: skip
    if not profile.show_diff(first, second, question, plot, as_json=json):
        raise typer.Exit(1)


def _arrays(arg: Many, out: Many, inout: Many, workspace: Many) -> dict[str, list[str]]:
    return {"arg": arg or [], "out": out or [], "inout": inout or [], "workspace": workspace or []}
