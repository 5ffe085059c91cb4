"""``gnt apis``: the Ascend C names that the twin has, and those that it rejects."""

from __future__ import annotations

from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json
from gn_tutorial.cli.terminal import emit_json, print_table
from gn_tutorial.errors import ArgumentError


def apis(
    pattern: Annotated[str, typer.Argument(help="Part of a name, or a pattern with * and ?.")] = "",
    json: Json = False,
) -> None:
    """List the Ascend C names that the twin has, and those it rejects as not there yet."""
    from gn_tutorial.cli.apis import load_apis, matching

    found = matching(load_apis(), pattern)
    if json:
        emit_json([vars(api) for api in found])
        return
    have = [(a.name, ", ".join(a.dtypes), " | ".join(a.forms)) for a in found if a.supported]
    lack = [a.name for a in found if not a.supported]
    if have:
        print_table(("name", "dtypes", "forms"), have, title=f"{len(have)} on the twin")
    if lack:
        print_table((), [(", ".join(lack),)], title=f"{len(lack)} known and not on the twin yet")
    if not found:
        raise ArgumentError(f"no Ascend C name matches '{pattern}'", hint="gnt apis lists them all")


COMMAND = Command("apis", apis, Panel.REFERENCE, 30)
