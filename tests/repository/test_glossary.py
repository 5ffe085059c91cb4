"""The glossary against the notebooks: every Chinese term that stands in one is explained, and the notebook is right."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "GLOSSARY.md"
SIGN = r"[\u4e00-\u9fff]"
CHINESE = re.compile(f"{SIGN}+")


class Row(NamedTuple):
    term: str
    chinese: str
    meaning: str
    notebook: str


def prose() -> dict[str, str]:
    """By a notebook's number: all that it says."""
    cells = {path.name[:2]: json.loads(path.read_text(encoding="utf-8"))["cells"] for path in notebooks()}
    return {
        number: "\n\n".join("".join(cell["source"]) for cell in mine if cell["cell_type"] == "markdown")
        for number, mine in cells.items()
    }


def notebooks() -> list[Path]:
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def rows() -> list[Row]:
    lines = PAGE.read_text(encoding="utf-8").split("|---|---|---|---|\n")[1].split("\n\n")[0].splitlines()
    found = [Row(*(cell.strip() for cell in line.strip("|").split("|"))) for line in lines]
    return [row._replace(notebook=row.notebook.strip("[]")) for row in found]


def test_every_chinese_term_of_a_notebook_is_in_the_glossary() -> None:
    explained = {run for row in rows() for run in CHINESE.findall(row.chinese)}
    used = {(number, run) for number, text in prose().items() for run in CHINESE.findall(text)}
    assert len({run for _, run in used}) > 80
    assert [one for one in sorted(used) if one[1] not in explained] == []


def test_a_chinese_term_stands_in_the_notebook_that_its_row_names_and_in_none_before() -> None:
    texts = prose()
    for row in rows():
        if row.chinese:
            whole = re.compile(rf"(?<!{SIGN}){re.escape(row.chinese)}(?!{SIGN})")
            first = next((number for number, text in texts.items() if whole.search(text)), None)
            assert row.notebook == first, row.term


def test_a_term_without_a_chinese_one_is_used_in_its_notebook_and_emphasised_in_none_before() -> None:
    texts = prose()
    for row in rows():
        if not row.chinese:
            assert row.term.lower() in texts[row.notebook].lower(), row.term
            assert not [n for n, text in texts.items() if n < row.notebook and f"**{row.term}**" in text], row.term


def test_terms_are_in_alphabetical_order_and_each_says_what_it_is() -> None:
    terms = [row.term.casefold() for row in rows()]
    assert terms == sorted(set(terms))
    assert [row.term for row in rows() if not 1 <= len(re.findall(r"[.:?](?:\s|$)", row.meaning)) <= 4] == []


def test_each_notebook_that_is_named_has_its_link() -> None:
    links = dict(re.findall(r"^\[(\d\d)\]: \.\./(notebooks/\S+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert set(links) == {row.notebook for row in rows()}
    assert [number for number, path in links.items() if not (ROOT / path).exists() or f"/{number}_" not in path] == []
