"""The catalogue of diagnostics: the sentences of each id, its family, the symptoms it shows as, and its page.

``diagnostics.toml`` holds the sentences; a comment line ``# --- Queues ---`` there begins a family. ``causes.toml`` has
what is added where the twin knows which line led to the finding. ``symptoms.toml`` leads from what a learner sees to
the likeliest ids; any other id names its symptoms itself. ``words.toml`` has the facts that are words. All of it is
English: who shows it asks ``translation`` for the learner's language. The pages of docs/diagnostics are made from all
of them and from the programs of tests/programs (tools/pages/make_catalogue.py).
"""

from __future__ import annotations

import difflib
import fnmatch
import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.toml_file import PACKAGE
from gn_tutorial.translation.markdown import translated_markdown
from gn_tutorial.translation.texts import translated

_HERE = Path(__file__).resolve().parent
_FAMILY = re.compile(r"^# --- (.+?) -+$")
_TABLE = re.compile(r"^\[([\w-]+)\]")
_SYMPTOM = re.compile(r"\[(.+)\]\((README\.md#.+)\)")
#: What pages say around the sentences of their entry (tools/pages/make_catalogue.py); ``{}`` is what one of them names.
PAGE_WORDS = (
    "What it means",
    "Why it matters on a device",
    "What to do",
    "Wrong",
    "The twin prints:",
    "Right",
    "How it shows on a device",
    "An error: the launch fails.",
    "A warning: the launch goes on.",
    "Run it: `{}`",
    "Other programs with this mistake: {}.",
    "[All diagnostics](README.md), in a terminal: `gnt explain {}`",
    "This is found in the call or in host code, not in a kernel: there is no program to show.",
)
#: Where the pages are in the repository.
PAGES = "docs/diagnostics"


@dataclass(frozen=True)
class CatalogueEntry:
    """One id. The sentences are templates: a name in braces is a fact that the twin sends.

    symptoms: titles of the symptoms that it names itself; ``symptoms.toml`` may list it under others.
    """

    id: str
    family: str
    what: str
    why: str
    fix: str
    symptoms: tuple[str, ...] = ()

    @property
    def link(self) -> str:
        """The entry's page, from the top of the repository."""
        return f"{PAGES}/{self.id}.md"


@dataclass(frozen=True)
class Cause:
    """What led to a finding, where the twin knows: a sentence more, and the fix in the place of the entry's own."""

    what: str
    fix: str


@dataclass(frozen=True)
class Symptom:
    """What a learner sees. ``look``: what to try first. ``ids``: the likeliest first."""

    title: str
    look: str
    ids: tuple[str, ...]


def read_entries(text: str) -> dict[str, CatalogueEntry]:
    """The entries of a catalogue's text, in its order."""
    families, family = {}, ""
    for line in text.splitlines():
        if found := _FAMILY.match(line):
            family = found[1]
        elif found := _TABLE.match(line):
            families[found[1]] = family
    tables = tomllib.loads(text)
    return {
        name: CatalogueEntry(
            name,
            families.get(name, ""),
            *(str(table.get(part, "")) for part in ("what", "why", "fix")),
            symptoms=tuple(table.get("symptoms", ())),
        )
        for name, table in tables.items()
    }


@functools.cache
def entries() -> Mapping[str, CatalogueEntry]:
    """The package's catalogue by id; empty if its file is missing, since a finding must be shown all the same."""
    try:
        return read_entries((_HERE / "diagnostics.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


@functools.cache
def causes() -> Mapping[str, Cause]:
    """The package's causes by name; empty if their file is missing."""
    try:
        tables = tomllib.loads((_HERE / "causes.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return {name: Cause(str(table["what"]), str(table["fix"])) for name, table in tables.items()}


@functools.cache
def words() -> Mapping[str, tuple[str, ...]]:
    """Field of a finding -> the words of English that the twin may send in it; empty if their file is missing."""
    try:
        tables = tomllib.loads((_HERE / "words.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return {field: tuple(listed) for field, listed in tables.items()}


def families() -> dict[str, list[CatalogueEntry]]:
    """The entries by family, both in the catalogue's order."""
    found: dict[str, list[CatalogueEntry]] = {}
    for entry in entries().values():
        found.setdefault(entry.family, []).append(entry)
    return found


def read_symptoms(text: str, known: Mapping[str, CatalogueEntry]) -> tuple[Symptom, ...]:
    """The symptoms of a text: their patterns replaced by ids, then the ids that name them.

    Raises RegistryError for an id that is not ``known``, or one that names a symptom which there is not.
    """
    tables: list[dict[str, Any]] = tomllib.loads(text)["symptom"]
    titles = {table["title"] for table in tables}
    for entry in known.values():
        if strange := set(entry.symptoms) - titles:
            raise RegistryError(f"diagnostics.toml: {entry.id} names the symptom '{min(strange)}', which there is not")
    return tuple(Symptom(table["title"], table["look"], _listed(table, known)) for table in tables)


@functools.cache
def symptoms() -> tuple[Symptom, ...]:
    """The package's symptoms, in the order of the guide."""
    return read_symptoms((_HERE / "symptoms.toml").read_text(encoding="utf-8"), entries())


def find(name: str) -> CatalogueEntry:
    """The entry of an id, however it is capitalised. Raises ArgumentError that names the nearest ids."""
    wanted = name.strip().lower().replace("_", "-")
    if wanted in entries():
        return entries()[wanted]
    close = near(wanted)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    raise ArgumentError(f"there is no diagnostic '{name}'", hint=f"{hint}gnt explain lists them all")


def near(name: str, most: int = 3) -> list[str]:
    """Ids that a misspelt or shortened ``name`` may mean, the nearest first."""
    known = list(entries())
    holding = [one for one in known if name and name in one]
    parts = {one for one in known if set(name.split("-")) & set(one.split("-"))}
    alike = difflib.get_close_matches(name, known, n=most, cutoff=0.6)
    shared = difflib.get_close_matches(name, sorted(parts), n=most, cutoff=0.4)
    return list(dict.fromkeys([*alike, *holding, *shared]))[:most]


def read_page(entry: CatalogueEntry) -> str:
    """The entry's page as Markdown, in the learner's language; what the twin printed is English, as it is stored.

    Its sentences alone if the pages were not made since it was added.
    """
    sentences = {spoken(one): spoken(translated(one)) for one in (entry.what, entry.why, entry.fix)}
    page = _stored_page(entry) or "\n\n".join([f"# {entry.id}", *sentences]) + "\n"
    return translated_markdown(page, lambda text: sentences.get(text) or _around(text, entry))


def _around(text: str, entry: CatalogueEntry) -> str:
    """A text of the page that is no sentence of the entry: ``PAGE_WORDS``, with what they name on this page."""
    if text.startswith(f"*{entry.family}."):
        ends = text.strip("*").removeprefix(f"{entry.family}.").strip()
        both = translated("{family}. {ends}").format(family=translated(entry.family), ends=translated(ends))
        return f"*{both.rstrip()}*"
    if found := _SYMPTOM.fullmatch(text):
        return f"[{translated(found[1])}]({found[2]})"
    for words in PAGE_WORDS:
        before, name, after = words.partition("{}")
        if name and text.startswith(before) and text.endswith(after):
            named = text.removeprefix(before).removesuffix(after)
            return translated(words).replace("{}", named)
    return translated(text)


def spoken(template: str) -> str:
    """A sentence with its facts as words in italics: ``{buffer_name}`` -> *buffer name*."""
    text = re.sub(r"<([^>]*)>", r"\\<\1>", template)
    return re.sub(r"\{(\w+)\}", lambda fact: f"*{fact[1].replace('_', ' ')}*", text)


def _stored_page(entry: CatalogueEntry) -> str:
    for folder in (PACKAGE / "_docs" / "diagnostics", PACKAGE.parent / PAGES):
        if (folder / f"{entry.id}.md").is_file():
            return (folder / f"{entry.id}.md").read_text(encoding="utf-8")
    return ""


def _listed(table: Mapping[str, Any], known: Mapping[str, CatalogueEntry]) -> tuple[str, ...]:
    found: list[str] = []
    for pattern in table.get("ids", ()):
        ids = fnmatch.filter(known, pattern)
        if not ids and "*" not in pattern:
            raise RegistryError(f"symptoms.toml: '{table['title']}' lists {pattern}, and no diagnostic is called so")
        found += ids
    found += [entry.id for entry in known.values() if table["title"] in entry.symptoms]
    return tuple(dict.fromkeys(found))
