"""``gnt tune``: tries values of a tiling field, and shows them as a table, JSON and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import (
    Arg,
    Blocks,
    Dtype,
    Entry,
    Groups,
    In,
    Inout,
    Json,
    Like,
    MachineName,
    Out,
    Seed,
    Settings,
    Target,
    Workspace,
)
from gn_tutorial.cli.pictures import check_paths
from gn_tutorial.cli.terminal import emit_json, print_table, working
from gn_tutorial.errors import ArgumentError
from gn_tutorial.timing.machine import DEFAULT_MACHINE

if TYPE_CHECKING:
    from gn_tutorial.profiler.bench.autotune import Candidate, Tuning


def tune(
    target: Target,
    shape: Annotated[str, typer.Option(help="Shape of the first input. Default: the operator's example.")] = "",
    groups: Groups = None,
    settings: Settings = None,
    dtype: Dtype = "",
    field: Annotated[
        str, typer.Option(help="The tiling field to change. Default: that of the operator's bench.toml.")
    ] = "",
    values: Annotated[str, typer.Option(help="Values to try: 512,1024,2048. Default: a series up to what fits.")] = "",
    inputs: In = None,
    arg: Arg = None,
    out: Out = None,
    inout: Inout = None,
    workspace: Workspace = None,
    entry: Entry = "",
    like: Like = "",
    blocks: Blocks = None,
    machine: MachineName = DEFAULT_MACHINE,
    seed: Seed = 0,
    plot: Annotated[
        Path | None, typer.Option(help="Write a picture, time against the field's value: FILE.png.")
    ] = None,
    json: Json = False,
) -> None:
    """Try values of one field of the tiling struct, and show which is modelled fastest, beside the host's choice.

    For a .cpp file, the field is a number that its kernel takes by value (--arg tile=512 --field tile), or a field of
    the registered kernel that --like names. For a project, it is a field of the struct that its own tiling function
    fills. Every candidate is launched and compared with the reference; a file or a project alone is compared with its
    own unchanged result. A candidate that the twin refuses, because it does not fit into the Unified Buffer, is shown
    with the reason. Exit code 1 if no candidate ran.
    """
    from gn_tutorial.cli.profile_arguments import ProfileRequest, arrays_of
    from gn_tutorial.cli.tuning_arguments import ask

    check_paths(plot)
    question = ProfileRequest(
        shape, groups, settings or (), dtype, arrays_of(arg, out, inout, workspace), entry, like=like, blocks=blocks,
        seed=seed, machine=machine, inputs=inputs or (),
    )  # fmt: skip
    with working(f"trying values on {target}"):
        found = ask(target, question, field, parse_values(values))
    if plot is not None:
        from gn_tutorial.plot.tuning import tuning_curve

        tuning_curve(found).save(plot)
    if json:
        emit_json(_as_data(found))
    else:
        _print(found, plot)
    if not found.ran:
        raise typer.Exit(1)


def parse_values(text: str) -> list[int]:
    """Return [512, 1024] for ``512,1024``. Raises ArgumentError, which quotes the text, if it has other words."""
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise ArgumentError(f"--values {text}: whole numbers are needed", hint="--values 512,1024,2048") from None


def _as_data(found: Tuning) -> dict[str, object]:
    """Return the tuning as data for JSON."""
    best = found.best
    return {
        "kernel": found.kernel,
        "case": found.case,
        "machine": found.machine,
        "field": found.field,
        "bound_us": found.bound_us,
        "best": best.value if best else None,
        "host": found.default.value,
        "candidates": [
            {
                "value": one.value,
                "status": one.status,
                "modelled_us": one.modelled_us,
                "ub_bytes": one.ub_bytes,
                "binding": one.binding,
                "waits": one.waits,
                "note": one.note,
                "tiling": one.tile.fields,
            }
            for one in found.candidates
        ],
    }


def _print(found: Tuning, plot: Path | None) -> None:
    best, ours = found.best, found.default
    headers = (
        found.field,
        "modelled us",
        f"of the {found.chosen_by}'s",
        "UB bytes",
        "binding limit",
        "longest wait of its pipe",
        "",
    )
    rows = [_cells(one, found) for one in found.candidates]
    print_table(headers, rows, title=f"{found.kernel} on {found.case}, modelled on {found.machine}")
    if len(found.ran) > 1 and not found.matters:
        print(f"{found.field} makes no difference to {found.kernel} here; --field names another")
    elif best and ours.modelled_us and best.modelled_us:
        gain = ours.modelled_us / best.modelled_us
        print(
            f"fastest: {found.field} = {best.value} with {best.modelled_us:.2f} us; the {found.chosen_by} "
            f"chooses {ours.value} with {ours.modelled_us:.2f} us ({gain:.2f} times that); "
            f"bound {found.bound_us:.2f} us"
        )
    print("Modelled, not measured. Which other fields follow: [[tune]] in a registered operator's bench.toml.")
    if plot is not None:
        print(f"picture: {plot}")


def _cells(one: Candidate, found: Tuning) -> tuple[str, ...]:
    from gn_tutorial.profiler.bench.run import OK

    marks = [word for word, holds in (("fastest", one is found.best), (found.chosen_by, one.ours)) if holds]
    said = ", ".join([*marks, *([] if one.status == OK else [f"{one.status}: {one.note}"])])
    if one.modelled_us is None:
        return str(one.value), "", "", "", "", "", said
    ours = found.default.modelled_us
    share = f"{one.modelled_us / ours:.2f}" if ours else ""
    return str(one.value), f"{one.modelled_us:.2f}", share, f"{one.ub_bytes:,}", one.binding, one.waits, said


COMMAND = Command("tune", tune, Panel.REFERENCE, 20)
