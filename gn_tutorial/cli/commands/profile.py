"""``gnt profile``: shows one kernel's modelled time as a table, JSON, a picture and a timeline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import (
    Arg,
    Blocks,
    Define,
    Dtype,
    Entry,
    Groups,
    Html,
    In,
    Include,
    Inout,
    Json,
    Like,
    MachineName,
    Out,
    Record,
    Seed,
    Settings,
    Shape,
    Target,
    Template,
    Types,
    Warm,
    Workspace,
)
from gn_tutorial.cli.pictures import PICTURES, View, check_files, draw, say_page, write_page
from gn_tutorial.cli.terminal import emit_json, print_table, working
from gn_tutorial.timing.machine import DEFAULT_MACHINE

if TYPE_CHECKING:
    from gn_tutorial.profiler.profile import Profile


def profile(
    target: Target,
    shape: Shape = "",
    groups: Groups = None,
    settings: Settings = None,
    inputs: In = None,
    dtype: Dtype = "",
    arg: Arg = None,
    out: Out = None,
    inout: Inout = None,
    workspace: Workspace = None,
    entry: Entry = "",
    template: Template = "",
    types: Types = None,
    define: Define = None,
    include: Include = None,
    like: Like = "",
    blocks: Blocks = None,
    seed: Seed = 0,
    machine: MachineName = DEFAULT_MACHINE,
    warm: Warm = False,
    record: Record = "",
    plot: Annotated[
        Path | None,
        typer.Option(help="Write a picture: FILE.png. With --picture alone, the name is derived from the kernel's."),
    ] = None,
    picture: Annotated[
        str,
        typer.Option(help=f"Which: {', '.join(f'{name} ({what})' for name, what in PICTURES.items())}."),
    ] = "",
    block: Annotated[int | None, typer.Option(help="The picture's block. Default: the slowest.")] = None,
    window: Annotated[str, typer.Option(help="The picture's part of the time, in us: 0.5,2.")] = "",
    trace: Annotated[
        Path | None, typer.Option(help="Write a timeline for Perfetto and MindStudio Insight: FILE.json.")
    ] = None,
    html: Html = None,
    json: Json = False,
) -> None:
    """Model how long the chip would take for a kernel, and why: a table, a picture, a timeline.

    All times are modelled, not measured on an NPU. Exit code 1 if a registered kernel computes wrong results.
    """
    from gn_tutorial.cli.profile_arguments import ProfileRequest, arrays_of, ask, warn_if_wrong
    from gn_tutorial.profiler.chrome_trace import save_chrome_trace

    question = ProfileRequest(
        shape, groups, settings or (), dtype, arrays_of(arg, out, inout, workspace), entry, template, types or (),
        define or (), like, blocks, seed, machine, warm, record, inputs or (), include or (),
    )  # fmt: skip
    view = View(picture, block, window)
    plot = plot or view.path(target)
    check_files(plot, trace, view, html)
    answer = ask(target, question)
    found = answer.profile
    if plot is not None:
        with working(f"drawing {plot}"):
            draw(found, plot, view)
    if trace is not None:
        with working(f"writing {trace}"):
            save_chrome_trace(found, trace)
    if html is not None:
        write_page(html, found)
    if json:
        files = {"plot": plot, "trace": trace, "html": html}
        emit_json({**as_dict(found), **answer.facts, "right": answer.right, **files})
        right = answer.right is not False
    else:
        asked = [(name, str(value)) for name, value in answer.facts.items()]
        print_table((), asked + found.facts(), title=f"{found.kernel}, modelled")
        if plot is not None:
            print(f"picture: {plot}")
        if trace is not None:
            print(f"trace: {trace} (open it on ui.perfetto.dev or in MindStudio Insight)")
        if html is not None:
            say_page(html)
        right = warn_if_wrong(target, answer)
    if not right:
        raise typer.Exit(1)


def as_dict(profile: Profile) -> dict[str, Any]:
    """Return what ``--json`` prints about a profile, without the call's facts and files. Times are in microseconds."""
    low, high = profile.likely
    traffic = profile.timeline.traffic
    return {
        "kernel": profile.kernel,
        "machine": profile.machine.name,
        "blocks": profile.blocks,
        "recorded_blocks": sorted(profile.trace.blocks),
        "modelled_us": profile.microseconds,
        "likely_us": [low, high],
        "launch_us": profile.timeline.launch_us,
        "busy_us": {pipe.name: time for pipe, time in profile.busy.items()},
        "limits": [limit._asdict() for limit in profile.limits],
        "binding": profile.binding.name,
        "distance": profile.distance,
        "bound_us": profile.bound and profile.bound.microseconds,
        "bound": profile.bound and [profile.bound.kind, profile.bound.limit],
        "of_bound": profile.of_bound,
        "traffic_bytes": traffic._asdict(),
        "tally": profile.tally,
        "stalls": [{**stall._asdict(), "pipe": stall.pipe.name} for stall in profile.stalls],
        "notes": profile.notes,
    }


COMMAND = Command("profile", profile, Panel.LEARN, 50)
