"""Reads the catalogue of diagnostics: all texts about an id. The twin sends only id, severity, place and facts.

``diagnostics.toml`` has an id's sentences, its symptoms, and how it is shown; a comment line ``# --- Queues ---`` there
begins a family. ``causes.toml`` has additions for findings whose cause the twin knows. ``symptoms.toml`` maps a symptom
that a learner sees to the likeliest ids. ``words.toml`` has the words that findings share. All texts are English; the
code that shows them asks ``translation`` for the learner's language. tools/pages/make_catalogue.py makes the pages of
docs/diagnostics from these files and the programs of tests/programs.
"""

from __future__ import annotations

import difflib
import fnmatch
import functools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from gn_tutorial.diagnostics.deciding import DECIDED_BY, FIX_AT, LINES
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.toml_file import PACKAGE
from gn_tutorial.translation.markdown import translated_markdown
from gn_tutorial.translation.texts import translated

_HERE = Path(__file__).resolve().parent
_FAMILY = re.compile(r"^# --- (.+?) -+$")
_TABLE = re.compile(r"^\[([\w-]+)\]")
_SYMPTOM = re.compile(r"\[(.+)\]\((README\.md#.+)\)")
#: The texts around an entry's sentences on its page (tools/pages/make_catalogue.py); ``{}`` stands for a name.
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
#: The folder of the pages in the repository.
PAGES = "docs/diagnostics"


@dataclass(frozen=True, kw_only=True)
class ShownWith:
    """The lines to show beside a finding's own line, and their labels and words.

    decided_by: keys of ``DECIDED_BY``, which find the lines that decide the finding. deciding_lines: how many of these
    are shown. fix_at: the kind of line that the fix changes, a key of ``FIX_AT``. labels: name of another place ->
    label. words: field -> English words that may be its value. words.toml has the labels and words that several
    findings share.
    """

    decided_by: tuple[str, ...] = ()
    deciding_lines: int = LINES
    fix_at: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class CatalogueEntry(ShownWith):
    """The catalogue's entry for one id. what, why and fix are templates: a name in braces is a fact from the twin.

    symptoms: titles of the symptoms that the entry names; ``symptoms.toml`` may list the id under others. ends: the
    finding ends the launch, so it cannot be made a warning. strict: the finding is an error in strict launches
    (TwinOptions). unchecked: no device checks for it, so it is a warning in a project's launch. of_launch: the mistake
    is a number of the launch, which fails with the exit code of a wrong argument. harmless_form_of: the id of the
    harmful form of the same mistake, if this entry is the harmless form.
    """

    id: str
    family: str
    what: str
    why: str
    fix: str
    symptoms: tuple[str, ...] = ()
    ends: bool = False
    strict: bool = False
    unchecked: bool = False
    of_launch: bool = False
    harmless_form_of: str = ""

    @property
    def link(self) -> str:
        """The path of the entry's page, from the top of the repository."""
        return f"{PAGES}/{self.id}.md"


@dataclass(frozen=True)
class Cause(ShownWith):
    """The cause of a finding, if the twin knows it: one more sentence, and a fix that replaces the entry's.

    The fields of ShownWith that a cause sets take precedence over the entry's.
    """

    what: str
    fix: str


@dataclass(frozen=True)
class Symptom:
    """A symptom that a learner sees. look: what to try first. ids: the likeliest first; in the file, also patterns."""

    title: str
    look: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Words:
    """The texts that several findings share.

    facts: field -> words that may be its value. places: name -> label. rules: name -> how a number of a call counts.
    """

    facts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)


_Shape = TypeVar("_Shape")


def _made(shape: type[_Shape], table: Mapping[str, Any], **more: str) -> _Shape:
    """Return an object made of a TOML table. Unknown keys are left out here; ``check`` refuses them."""
    keys = {one.name for one in fields(shape)}
    known = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items() if key in keys}
    return shape(**(more | known))


def read_entries(text: str) -> dict[str, CatalogueEntry]:
    """Return id -> entry of the text of a diagnostics.toml, in its order; a missing sentence is empty."""
    families, family = {}, ""
    for line in text.splitlines():
        if found := _FAMILY.match(line):
            family = found[1]
        elif found := _TABLE.match(line):
            families[found[1]] = family
    return {
        name: _made(CatalogueEntry, table, id=name, family=families.get(name, ""), what="", why="", fix="")
        for name, table in tomllib.loads(text).items()
    }


def _text(file: str) -> str:
    """Return the text of a catalogue file; empty if it is missing, since a finding must be shown nevertheless."""
    try:
        return (_HERE / file).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


@functools.cache
def entries() -> Mapping[str, CatalogueEntry]:
    """Return the package's catalogue by id."""
    return read_entries(_text("diagnostics.toml"))


@functools.cache
def harmless_forms() -> Mapping[str, str]:
    """Return id of a harmless form -> id of the harmful form. Checkers of exercises treat both as one mistake."""
    return {one.id: one.harmless_form_of for one in entries().values() if one.harmless_form_of}


@functools.cache
def causes() -> Mapping[str, Cause]:
    """Return the package's causes by name."""
    tables = tomllib.loads(_text("causes.toml"))
    return {name: _made(Cause, table, what="", fix="") for name, table in tables.items()}


@functools.cache
def words() -> Mapping[str, tuple[str, ...]]:
    """Return field of a finding -> the English words that the twin may send in it."""
    found = {key: tuple(listed) for key, listed in shared().facts.items()}
    for shown in (*entries().values(), *causes().values()):
        for key, listed in shown.words.items():
            found[key] = tuple(dict.fromkeys((*found.get(key, ()), *listed)))
    return found


@functools.cache
def shared() -> Words:
    """Return the package's texts that several findings share."""
    return _made(Words, tomllib.loads(_text("words.toml")))


def label_of(place: str, *shown: ShownWith) -> str:
    """Return the label of a finding's other place, from the first of ``shown`` that has one, else from words.toml.

    Return an empty text if neither has a label.
    """
    return next((one.labels[place] for one in shown if place in one.labels), shared().places.get(place, ""))


def labels() -> Iterator[tuple[str, str]]:
    """Yield every label of a place, with the place's name."""
    yield from shared().places.items()
    for shown in (*entries().values(), *causes().values()):
        yield from shown.labels.items()


def families() -> dict[str, list[CatalogueEntry]]:
    """Return family -> its entries, both in the catalogue's order."""
    found: dict[str, list[CatalogueEntry]] = {}
    for entry in entries().values():
        found.setdefault(entry.family, []).append(entry)
    return found


def check() -> None:
    """Raise RegistryError for an unknown or missing key, a value of a wrong type, or an unknown word in the four files.

    The words are ids, titles of symptoms, and keys of ``DECIDED_BY`` and ``FIX_AT``.
    """
    known = read_entries(_text("diagnostics.toml"))
    for name, table in tomllib.loads(_text("diagnostics.toml")).items():
        _check("diagnostics.toml", name, table, CatalogueEntry, id=name, family="")
        _check_word("diagnostics.toml", name, "harmless_form_of", table.get("harmless_form_of", name), known)
    for name, table in tomllib.loads(_text("causes.toml")).items():
        _check("causes.toml", name, table, Cause)
    for table in tomllib.loads(_text("symptoms.toml"))["symptom"]:
        _check("symptoms.toml", f"'{table.get('title', '')}'", table, Symptom)
    _check("words.toml", "the file", tomllib.loads(_text("words.toml")), Words)
    read_symptoms(_text("symptoms.toml"), known)


def _check(file: str, name: str, table: Mapping[str, Any], shape: type, **more: str) -> None:
    """Raise RegistryError unless the table fits the dataclass ``shape`` and its words are known.

    more: values of the fields that no table sets.
    """
    import msgspec  # imported here, because the playground's page reads the catalogue without it

    keys = [one.name for one in fields(shape) if one.name not in more]
    for key in table:
        if key not in keys:
            what = f"{file}: {name} has the unknown key '{key}'"
            raise RegistryError(what, hint=f"keys: {', '.join(keys)}")
    try:
        msgspec.convert(more | table, shape)
    except msgspec.ValidationError as error:
        raise RegistryError(f"{file}: {name}: {error}", hint=f"keys: {', '.join(keys)}") from error
    for word in table.get("decided_by", ()):
        _check_word(file, name, "decided_by", word, DECIDED_BY)
    if "fix_at" in table:
        _check_word(file, name, "fix_at", table["fix_at"], FIX_AT)


def _check_word(file: str, name: str, key: str, word: str, known: Iterable[str]) -> None:
    if word not in known:
        raise RegistryError(f"{file}: {name}: {key} cannot be '{word}'", hint=f"one of {', '.join(known)}")


def read_symptoms(text: str, known: Mapping[str, CatalogueEntry]) -> tuple[Symptom, ...]:
    """Return the symptoms of the text of a symptoms.toml, with ids in place of patterns.

    The ids whose entries name a symptom follow those that the text lists. Raises RegistryError for a listed id that is
    not ``known``, and for an entry that names a symptom that does not exist.
    """
    tables: list[dict[str, Any]] = tomllib.loads(text)["symptom"]
    titles = {table["title"] for table in tables}
    for entry in known.values():
        if strange := set(entry.symptoms) - titles:
            raise RegistryError(
                f"diagnostics.toml: {entry.id} names the symptom '{min(strange)}', which does not exist"
            )
    return tuple(Symptom(table["title"], table["look"], _listed(table, known)) for table in tables)


@functools.cache
def symptoms() -> tuple[Symptom, ...]:
    """Return the package's symptoms, in the order of symptoms.toml."""
    return read_symptoms((_HERE / "symptoms.toml").read_text(encoding="utf-8"), entries())


def find(name: str) -> CatalogueEntry:
    """Return the entry of an id, given in upper or lower case. Raises ArgumentError, which names the nearest ids."""
    wanted = name.strip().lower().replace("_", "-")
    if wanted in entries():
        return entries()[wanted]
    close = near(wanted)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    raise ArgumentError(f"there is no diagnostic '{name}'", hint=f"{hint}gnt explain lists them all")


def near(name: str, most: int = 3) -> list[str]:
    """Return ids that a misspelt or shortened ``name`` may mean, the nearest first."""
    known = list(entries())
    holding = [one for one in known if name and name in one]
    parts = {one for one in known if set(name.split("-")) & set(one.split("-"))}
    alike = difflib.get_close_matches(name, known, n=most, cutoff=0.6)
    shared = difflib.get_close_matches(name, sorted(parts), n=most, cutoff=0.4)
    return list(dict.fromkeys([*alike, *holding, *shared]))[:most]


def read_page(entry: CatalogueEntry) -> str:
    """Return the entry's page as Markdown, in the learner's language; the twin's stored output stays English.

    An entry that was added after the pages were made gives only its sentences.
    """
    sentences = {spoken(one): spoken(translated(one)) for one in (entry.what, entry.why, entry.fix)}
    page = _stored_page(entry) or "\n\n".join([f"# {entry.id}", *sentences]) + "\n"
    return translated_markdown(page, lambda text: sentences.get(text) or _around(text, entry))


def _around(text: str, entry: CatalogueEntry) -> str:
    """Return the translation of a text of the page that is not a sentence of the entry, such as one of PAGE_WORDS."""
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
    """Return a sentence template as Markdown, each fact as words in italics: ``{buffer_name}`` -> *buffer name*."""
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
            raise RegistryError(f"symptoms.toml: '{table['title']}' lists {pattern}, but no diagnostic has that name")
        found += ids
    found += [entry.id for entry in known.values() if table["title"] in entry.symptoms]
    return tuple(dict.fromkeys(found))
