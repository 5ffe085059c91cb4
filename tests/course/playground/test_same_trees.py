"""The page's parser makes the trees of this machine, and rules that read them find the same in Pyodide as here."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from playground_support import ROOT, Page, missing
from program_pairs import SOURCES
from tree_rows import FIELDS, KINDS, rows

from gn_tutorial.course.playground.compiling import Compilation

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

TEXTS = ["", "// 内核 🙂\nint 数 = 1;", "int a;\0int b;", "\ufeffint a;", "f(" * 5000, "void f() { g(1; }\nint x = ;"]
FOLDERS = ("kernels", "exercises", "solutions", "tests", "gn_tutorial", "web/playground/src")
FILES = [
    path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".cpp", ".h", ".asc", ".c", ".cc", ".cu")
]
LANGUAGE = [name for name in sorted(SOURCES) if name.startswith("language/")]


def test_names_and_trees_are_those_of_this_machine(page: Page) -> None:
    assert page.ask(do="names") == {"kinds": KINDS, "fields": FIELDS}
    assert [text for text in TEXTS if page.rows(text.encode()) != rows(text.encode())] == []


def hold_files(page: Page, files: list[Path]) -> None:
    """As they are, without the blanks for CANN's words, so that there are more errors."""
    assert [path for path in files if page.rows(path.read_bytes()) != rows(path.read_bytes())] == []


def test_fifty_files_have_the_same_trees(page: Page) -> None:
    hold_files(page, FILES[:: len(FILES) // 50])


@pytest.mark.thorough
def test_every_file_has_the_same_tree(page: Page) -> None:
    assert len(FILES) > 1300
    hold_files(page, FILES)


def hold_findings(page: Page, names: list[str]) -> int:
    """Compare what Pyodide and this Python find in sources; return the number of findings."""
    differ, count = {}, 0
    for name in names:
        source = Compilation(PurePosixPath(f"programs/{name}.cpp"), SOURCES[name].read_text(encoding="utf-8"))
        asked = page.python("preparing", str(source.path), source.text, [])
        preprocessed = page.ask(do="preprocess", request=asked["preprocess"])["text"]
        there, here = page.python("source_findings", preprocessed), source.source_findings(preprocessed)
        for one in here:
            one["fields"] = [list(field) for field in one["fields"]]
        count += len(here)
        if there != here:
            differ[name] = (there, here)
    assert differ == {}
    return count


def test_a_rule_on_the_tree_finds_the_same_in_pyodide(page: Page) -> None:
    assert hold_findings(page, ["language/typeid_bad", "language/typeid_ok"]) == 1


@pytest.mark.thorough
def test_every_rule_finds_the_same_in_pyodide(page: Page) -> None:
    assert hold_findings(page, LANGUAGE) >= len(LANGUAGE) // 2
