"""``gnt explain``: prints a page of the catalogue of diagnostics; without a name, a guide by symptom and the list."""

from __future__ import annotations

from typing import Annotated

import typer

from gn_tutorial.cli.command import Command, Panel
from gn_tutorial.cli.options import Json
from gn_tutorial.cli.terminal import emit_json, print_markdown, print_table
from gn_tutorial.diagnostics import catalogue


def explain(
    name: Annotated[str, typer.Argument(help="The id of a diagnostic; none: the guide by symptom and the list.")] = "",
    json: Json = False,
) -> None:
    """Explain a diagnostic of the twin: what it means, why it matters on a device, wrong and right code."""
    if not name:
        if json:
            emit_json([_facts(entry) for entry in catalogue.entries().values()])
        else:
            _list()
        return
    entry = catalogue.find(name)
    page = catalogue.read_page(entry)
    if json:
        emit_json(_facts(entry) | {"page": page})
    else:
        print_markdown(page)


def _list() -> None:
    from gn_tutorial.translation.texts import translated

    seen = [(translated(one.title), ", ".join(one.ids)) for one in catalogue.symptoms() if one.ids]
    print_table((translated("what you see on a device"), translated("what it may be")), seen)
    named = catalogue.families().items()
    families = [(translated(name), ", ".join(one.id for one in members)) for name, members in named]
    print_table((translated("family"), translated("diagnostics")), families)


def _facts(entry: catalogue.Entry) -> dict[str, object]:
    shown = [symptom.title for symptom in catalogue.symptoms() if entry.id in symptom.ids]
    return vars(entry) | {"symptoms": shown, "link": entry.link}


COMMAND = Command("explain", explain, Panel.LEARN, 70)
