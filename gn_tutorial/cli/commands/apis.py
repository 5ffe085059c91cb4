"""``gnt apis``: lists the Ascend C names that the twin supports or rejects, or shows the forms and cost of one name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json, MachineName
from gn_tutorial.cli.terminal import emit_json, print_table
from gn_tutorial.errors import ArgumentError
from gn_tutorial.timing.machine import DEFAULT_MACHINE, load_machine

if TYPE_CHECKING:
    from gn_tutorial.cli.api_page import ApiPage


def apis(
    pattern: Annotated[str, typer.Argument(help="A name, part of one, or a pattern with * and ?.")] = "",
    machine: MachineName = DEFAULT_MACHINE,
    json: Json = False,
) -> None:
    """List the Ascend C names that the twin supports, and those that it does not support yet.

    For a full name (gnt apis Add), print its forms, as the twin declares them, and its modelled cost.
    """
    from msgspec.structs import asdict

    from gn_tutorial.cli.api_page import find_page, page_of
    from gn_tutorial.cli.api_table import load_apis, matching

    known = load_apis()
    one = find_page(known, pattern)
    page = None if one is None else page_of(one, load_machine(machine))
    found = matching(known, pattern)
    if json:
        more = {} if page is None else {page.api.name: {"declared": page.forms, "cost": page.cost}}
        emit_json([asdict(api) | more.get(api.name, {}) for api in found])
        return
    if page is not None:
        _show(page)
        found = [api for api in found if api is not one and api.supported]
        if found:
            print(f"other names with '{pattern}': {', '.join(api.name for api in found)}")
        return
    have = [(a.name, ", ".join(a.dtypes), " | ".join(a.forms)) for a in found if a.supported]
    lack = [a.name for a in found if not a.supported]
    if have:
        print_table(("name", "dtypes", "forms"), have, title=f"{len(have)} on the twin")
    if lack:
        print_table((), [(", ".join(lack),)], title=f"{len(lack)} known and not on the twin yet")
    if not found:
        raise ArgumentError(f"no Ascend C name matches '{pattern}'", hint="gnt apis lists them all")


def _show(page: ApiPage) -> None:
    api = page.api
    facts = [("what", api.what), ("dtypes", ", ".join(api.dtypes)), ("documentation", f"docs/zh/api/{api.doc}")]
    facts += page.cost or [("modelled cost", "none of its own")]
    facts += [("note", page.note)] if page.note else []
    print_table((), [row for row in facts if row[1]], title=api.name)
    for form in page.forms:
        print(f"  {form};")


COMMAND = Command("apis", apis, Panel.REFERENCE, 30)
