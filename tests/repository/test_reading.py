"""Kernels that a notebook shows whole, on one screen, and explains line by line in tables."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
SHOWN = {"00_start_here": "copy/copy.cpp", "03_scalar_kernel": "group_norm/group_norm_1_scalar.cpp"}
HEAD = r"\| ?line ?\| ?words ?\| ?what they say ?\|"


def rows(prose: str) -> list[tuple[list[int], list[str]]]:
    """The rows of all tables of lines: the numbers in the first column, the quoted words in the second one."""
    found = []
    for table in re.findall(rf"^{HEAD}\n\|[-|]+\|\n((?:\|.*\n?)+)", prose, re.MULTILINE):
        for row in table.splitlines():
            _, lines, words, said, _ = re.split(r"(?<!\\)\|", row)
            assert len(said.split()) >= 2, row
            ends = [[int(end) for end in part.split("–")] for part in lines.split(",")]
            found.append(([n for end in ends for n in range(end[0], end[-1] + 1)], re.findall(r"`([^`]+)`", words)))
    return found


def wrong_rows(kernel: list[str], prose: str) -> list[str]:
    """What keeps the tables from explaining each line of the kernel once, from ``#include`` on."""
    first = next(n for n, line in enumerate(kernel, 1) if line.startswith("#include"))
    code = [n for n, line in enumerate(kernel, 1) if n >= first and re.search(r"\w", line.partition("//")[0])]
    said = sorted(n for lines, _ in rows(prose) for n in lines)
    wrong = [f"line {n} stands in {said.count(n)} rows" for n in code if said.count(n) != 1]
    wrong += [f"line {n} has no code" for n in said if n not in code]
    for lines, words in rows(prose):
        texts = [kernel[n - 1] for n in lines]
        wrong += [f"{word} is not in lines {lines}" for word in words if not any(word in text for text in texts)]
        wrong += [
            f"no word of line {n}" for n, text in zip(lines, texts, strict=True) if not any(w in text for w in words)
        ]
    return wrong


@pytest.mark.parametrize(("notebook", "kernel"), SHOWN.items())
def test_a_kernel_is_shown_whole_and_each_line_is_explained_once(notebook: str, kernel: str) -> None:
    cells = nbformat.read(ROOT / "notebooks" / f"{notebook}.ipynb", as_version=nbformat.NO_CONVERT).cells
    lines = (ROOT / "kernels" / kernel).read_text(encoding="utf-8").splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("#include"))
    (shown,) = next(cell for cell in cells if cell.id == "read-kernel").outputs
    whole = [f"{n + 1:3}  {lines[n]}".rstrip() for n in range(first, len(lines))]
    assert [line.rstrip() for line in shown.text.splitlines()] == whole
    prose = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert not wrong_rows(lines, prose)


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ("| 2 | `int` | what it is |\n| 4 | `f` | a function of it |", ""),
        ("| 2, 4 | `int`, `f` | both are explained |", ""),
        ("| 2–4 | `int` | a range of lines |", "line 3 has no code"),
        ("| 2 | `int` | what it is |", "line 4 stands in 0 rows"),
        ("| 2, 4 | `int`, `f` | both of them |\n| 4 | `f` | and once more |", "line 4 stands in 2 rows"),
        ("| 2 | `int` | what it is |\n| 4 | `g` | a function of it |", "g is not in lines [4]"),
        ("| 2, 4 | `int` | both of them |", "no word of line 4"),
    ],
)
def test_a_line_left_out_said_twice_or_moved_is_found(table: str, wrong: str) -> None:
    kernel = ["// a title", "#include <int.h>", "// a reason", "void f();"]
    found = wrong_rows(kernel, f"before\n\n| line | words | what they say |\n|---|---|---|\n{table}\n\nbehind")
    assert (wrong in found) if wrong else not found
