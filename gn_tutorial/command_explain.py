"""``gnt explain``: a page of the catalogue of diagnostics, or the guide that leads to one."""

from __future__ import annotations

from gn_tutorial import catalogue
from gn_tutorial.terminal import emit_json, print_markdown


def run(name: str, *, as_json: bool) -> None:
    """Print the page of an id, or the index if ``name`` is empty. Raises ArgumentError for an unknown id."""
    if name:
        entry = catalogue.find(name)
        if as_json:
            emit_json(_facts(entry) | {"page": catalogue.read_page(entry)})
        else:
            print_markdown(catalogue.read_page(entry))
    elif as_json:
        emit_json([_facts(entry) for entry in catalogue.entries().values()])
    else:
        print_markdown(catalogue.read_index())


def _facts(entry: catalogue.Entry) -> dict[str, object]:
    shown = [symptom.title for symptom in catalogue.symptoms() if entry.id in symptom.ids]
    return vars(entry) | {"symptoms": shown, "link": entry.link}
