"""What the readers of C++ say about the C++ files of this repository, against ``readers.json``.

The record also holds the readers' mistakes. When a reader is replaced, the record shows what changes, and each change
must be a mend. ``python -m tests.cpp.test_readers`` writes the record again; look at the diff.

Findings of rules are not in it: a pair of programs binds each of them (``tests/programs/language``), and no other
kernel has one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gn_tutorial.compiler.cache_store import checksum
from gn_tutorial.cpp.entries import Param, scan
from gn_tutorial.cpp.launches import has_main, is_sample, rewrite
from gn_tutorial.cpp.literals import without_comments
from gn_tutorial.cpp.source_text import source_text
from gn_tutorial.cpp.structs import Struct, read_struct
from gn_tutorial.diagnostics import catalogue
from gn_tutorial.diagnostics.deciding import deciding
from tests.support.program_pairs import PROGRAMS, SOURCES, expected

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).with_name("readers.json")
FOLDERS = ("exercises", "solutions", "kernels", "tests", "gn_tutorial/twin")
STRUCT = re.compile(
    r"\b(?:struct|class)\s+(?:alignas\s*\(\s*\d+\s*\)\s*)?(\w+)\s*\{|BEGIN_TILING_DATA_DEF\s*\(\s*(\w+)"
)
Answer = list[str] | dict[str, str]


def sources() -> list[Path]:
    """Return every C++ file of the folders, sorted."""
    return sorted(
        path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in (".cpp", ".h", ".asc")
    )


def entries(path: Path) -> Answer:
    """Return the kernel entries, templates and notes of a file, with their lines."""
    found = scan(source_text(path))
    return [
        *(f"{one.line} {one.name}({parameters(one.params)})" for one in found.entries),
        *(f"{one.line} {one.name}<{', '.join(one.heads)}>({parameters(one.params)})" for one in found.templates),
        *(f"{one.line} {one.text}" for one in found.notes),
    ]


def parameters(params: Sequence[Param]) -> str:
    return ", ".join(f"{one.ctype} {one.name}: {one.kind.name.lower()}" for one in params)


def structs(path: Path) -> Answer:
    """Return the structs of a file whose fields can be read: dtype, count and offset of each field, and the size."""
    text = without_comments(source_text(path))
    names = dict.fromkeys(plain or macro for plain, macro in STRUCT.findall(text))
    found = {name: read_struct(name, {path: text}) for name in names}
    return {name: fields(one) for name, one in found.items() if one and one.fields}


def fields(struct: Struct) -> str:
    listed = (f"{one.name}: {one.dtype.name}[{one.count}] at {one.offset}" for one in struct.fields)
    return f"{', '.join(listed)}; {struct.nbytes} bytes"


def launches(path: Path) -> Answer:
    """Return whether a file has a main, and each of its lines that the twin compiles in another form."""
    text = source_text(path)
    if not is_sample(text, path.parent):
        return []
    before, after = text.splitlines(), rewrite(text, path).text.splitlines()
    changed = [f"{at} {line.strip()}" for at, line in enumerate(after, 1) if line not in before]
    return [*(["has a main"] if has_main(text) else []), *changed]


def decides(path: Path) -> Answer:
    """Return, of a wrong program, the lines that the catalogue's ``decided_by`` shows beside its finding."""
    name = path.relative_to(PROGRAMS).with_suffix("").as_posix() if PROGRAMS in path.parents else ""
    if name not in SOURCES:
        return []
    words = catalogue.entries()
    return [
        f"{line}: {one.line} {one.marked} {one.label}"
        for id_, line in expected(path)
        for one in deciding(words[id_].decided_by, str(path), line)
    ]


READERS: dict[str, Callable[[Path], Answer]] = {
    "entries": entries,
    "structs": structs,
    "launches": launches,
    "deciding lines": decides,
}


def said(reader: str, paths: Sequence[Path]) -> dict[str, Answer]:
    """Return file -> what a reader says, for files of which it says something."""
    answers = {path.relative_to(ROOT).as_posix(): READERS[reader](path) for path in paths}
    return {name: answer for name, answer in answers.items() if answer}


def texts(paths: Sequence[Path]) -> dict[str, str]:
    """Return file -> checksum of its text."""
    return {path.relative_to(ROOT).as_posix(): checksum(path.read_bytes())[:16] for path in paths}


@pytest.fixture(scope="module")
def record() -> dict[str, dict[str, Any]]:
    return json.loads(FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def unchanged(record: dict[str, dict[str, Any]]) -> list[Path]:
    """The files whose text is that of the record. New and edited files need no new record."""
    now = texts(sources())
    found = [ROOT / name for name, text in record["texts"].items() if now.get(name) == text]
    assert len(found) > len(record["texts"]) / 2, "most files have changed: write the record again"
    return found


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_says_what_is_recorded(reader: str, record: dict[str, dict[str, Any]], unchanged: list[Path]) -> None:
    names = {path.relative_to(ROOT).as_posix() for path in unchanged}
    assert said(reader, unchanged) == {name: answer for name, answer in record[reader].items() if name in names}


if __name__ == "__main__":
    written = {reader: said(reader, sources()) for reader in READERS} | {"texts": texts(sources())}
    FILE.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
