"""Lines for a terminal in the pages of diagnostics and beside the kernels: test_printed_commands has the other pages.

A page of a diagnostic runs its wrong program, from the clone's folder; a README runs where it lies.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command_line import Gnt

from tests.repository.test_printed_commands import OF_THE_CLONE, ROOT, command_of, printed

CATALOGUE = sorted((ROOT / "docs" / "diagnostics").glob("*.md"))
READMES = sorted((ROOT / "kernels").rglob("README.md"))
#: One that warns, and one for several cores.
SHOWN = ("mask-range", "race-blocks")
#: Of READMEs: what builds for an NPU or runs there, what compiles all of the host API, what writes beside the README.
LOOKED_UP = ("dev npu", "npu verify", "dev host-library", "project pack")


def lines(page: Path) -> list[str]:
    """The different lines of a page, as the words after gnt."""
    found = (re.match(r"(?:\./)?gnt (.*)", line) for line in printed(page.read_text(encoding="utf-8")))
    return list(dict.fromkeys(re.sub(r"\s+#.*", "", match[1]).strip() for match in found if match))


def runs() -> list[object]:
    """A wrong program each: the id that its page is of, and the words."""
    found = [(page.stem, line) for page in CATALOGUE for line in lines(page) if re.match(r"run [^-]", line)]
    assert len(found) > 100
    marks = [() if name in SHOWN else (pytest.mark.thorough,) for name, _ in found]
    return [pytest.param(*one, id=one[0], marks=mark) for one, mark in zip(found, marks, strict=True)]


@pytest.mark.parametrize(("name", "line"), runs())
def test_a_page_of_a_diagnostic_runs_what_it_is_about(
    gnt: Gnt, monkeypatch: pytest.MonkeyPatch, name: str, line: str
) -> None:
    monkeypatch.chdir(ROOT)
    ran = gnt(*shlex.split(line))
    assert f"gnt explain {name}" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.thorough)])
def test_the_pages_of_diagnostics_say_how_to_read_them(gnt: Gnt, every: int) -> None:
    explained = [line for page in CATALOGUE for line in lines(page) if re.fullmatch(r"explain [a-z0-9-]+", line)]
    assert len(explained) > 150
    assert {line for line in explained[::every] if gnt(*line.split()).code != 0} == set()


def of_readmes() -> list[object]:
    """Return the folder and the words of each command; those that compile a whole project run only with --all."""
    found = [(page.parent, line) for page in READMES for line in lines(page) if line.split()[0] not in OF_THE_CLONE]
    long = [line.startswith("project ") for _, line in found]
    assert sum(long) > 1
    return [
        pytest.param(*one, id=one[1][:30], marks=(pytest.mark.thorough,) if slow else ())
        for one, slow in zip(found, long, strict=True)
    ]


@pytest.mark.parametrize(("folder", "line"), of_readmes())
def test_the_lines_of_a_readme_run_where_it_lies(
    gnt: Gnt, monkeypatch: pytest.MonkeyPatch, folder: Path, line: str
) -> None:
    monkeypatch.chdir(folder)
    command_of(line)
    if not line.startswith(LOOKED_UP):
        assert gnt(*shlex.split(line)).code == 0
