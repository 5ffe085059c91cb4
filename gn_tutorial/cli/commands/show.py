"""``gnt show``: prints a kernel's source, or its tiling for a shape."""

from __future__ import annotations

from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json, Many
from gn_tutorial.cli.terminal import emit_json, print_source, print_table, working


def show(
    target: Annotated[str, typer.Argument(help="A registered kernel or a .cpp file.")],
    tiling: Annotated[
        bool, typer.Option("--tiling", help="The tiling struct for a shape, instead of the source.")
    ] = False,
    shape: Annotated[str, typer.Option(help="With --tiling: shape of the first input.")] = "",
    groups: Annotated[int | None, typer.Option(help="With --tiling: short for --set num_groups=...")] = None,
    settings: Annotated[Many, typer.Option("--set", help="With --tiling: an attribute, eps=1e-3.")] = None,
    blocks: Annotated[int | None, typer.Option(help="With --tiling: the most blocks to use.")] = None,
    json: Json = False,
) -> None:
    """Print a kernel's source, or how its work is split for a shape."""
    from gn_tutorial.cli.run_arguments import parse_call
    from gn_tutorial.operators.kernel import kernel

    if tiling:
        call = parse_call(target, shape, groups, settings or [], "")
        with working("compiling the tiling function"):
            made = kernel(target).tiling(*call.arrays(0).values(), blocks=blocks, **call.attributes)
        if json:
            emit_json({"struct": made.name, "bytes": len(made.bytes), "fields": made.fields})
        else:
            print_table(
                ("field", "type", "offset", "value"), made.rows(), title=f"{made.name}, {len(made.bytes)} bytes"
            )
        return
    found = kernel(target)
    if json:
        entries = [{"name": e.name, "line": e.line, "parameters": [vars(p) for p in e.params]} for e in found.entries]
        emit_json({"kernel": found.name, "file": found.path, "entries": entries, "source": found.source})
    else:
        print_source(found.source, str(found.path))


COMMAND = Command("show", show, Panel.TOOLS, 10)
