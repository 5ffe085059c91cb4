"""The puzzles: each solution passes, each wrong answer gets its message, and the parts in between work."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from gn_tutorial.course.mistakes import WrongAnswer, code_of
from gn_tutorial.course.progress import ProgressFile
from gn_tutorial.course.puzzles.bank import Puzzle, find, load
from gn_tutorial.course.puzzles.check import check, puzzle
from gn_tutorial.errors import ArgumentError, RegistryError

ROOT = Path(__file__).resolve().parents[3]
PUZZLES = load()
#: Of the others every solution and every wrong answer is run with --all: a check compiles for half a second.
ALWAYS = {"05.flag"}
EACH = [
    pytest.param(one, wrong, id=f"{one.id}-{wrong.name}", marks=() if one.id in ALWAYS else pytest.mark.thorough)
    for one in PUZZLES.values()
    for wrong in one.wrong
]
SOLUTIONS = [
    pytest.param(one, id=one.id, marks=() if one.id in ALWAYS else pytest.mark.thorough) for one in PUZZLES.values()
]


def test_there_are_puzzles_in_each_of_their_notebooks() -> None:
    """At least two in a notebook that has any, each once, where its file's section is."""
    for number in {one.notebook for one in PUZZLES.values()}:
        (path,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
        section, there = "", {}
        for cell in nbformat.read(path, as_version=nbformat.NO_CONVERT).cells:
            section = (re.findall(r"^## (.+)$", cell.source, re.MULTILINE) or [section])[-1]
            if cell.cell_type == "code" and cell.id.startswith("puzzle-"):
                there[f"{number}.{cell.id.removeprefix('puzzle-')}"] = section
        assert set(there) == {name for name in PUZZLES if name.startswith(number)}
        assert len(there) >= 2
        for name, heading in there.items():
            assert PUZZLES[name].section in heading, f"{name} stands in '{heading}'"


@pytest.mark.parametrize("one", PUZZLES.values(), ids=lambda one: one.id)
def test_its_stub_is_not_attempted_and_gives_nothing_away(one: Puzzle) -> None:
    result = check(one, one.stub())
    assert result.status == "not attempted"
    assert repr(result).startswith(f"Puzzle {one.id} ({one.title}): not attempted yet")
    assert all(len(line) <= 88 for line in one.cell().splitlines())
    assert code_of(one.stub()) == ""
    given = code_of(f"{one.before}\n{one.after}")
    for line in filter(None, map(code_of, one.solution.splitlines())):
        assert line == "}" or line not in given, f"{one.id} gives away {line}"
    assert repr(result) == repr(check(one, "\n// still thinking\n"))


@pytest.mark.parametrize("one", SOLUTIONS)
def test_its_solution_passes(one: Puzzle) -> None:
    result = check(one, one.solution)
    assert result.passed, repr(result)
    assert not any(lanes.wrong.any() for lanes in result.lanes)
    assert result.lanes


@pytest.mark.parametrize(("one", "wrong"), EACH)
def test_a_wrong_answer_is_told_its_mistake(one: Puzzle, wrong: WrongAnswer) -> None:
    result = check(one, wrong.lines)
    assert result.status == "failed"
    assert result.message == wrong.say


def test_the_picture_says_what_was_written() -> None:
    (lanes,) = check(
        find("04.count"), "Adds(y, x, 0.5f, 100); Muls(y, y, 2.0f, 3); Adds(y[120], x[120], 0.5f, 2);"
    ).lanes
    expected, got = lanes.text().splitlines()[1:3]
    assert expected == f"      0  expected |{'=' * 64}|"
    assert got == f"         got      |xxx{'=' * 61}|"
    assert lanes.text().splitlines()[4] == f"         got      |{'=' * 36}{'.' * 20}!!{'.' * 6}|"
    assert "3 written, wrong" in lanes.svg()
    assert "2 written, and should not be" in lanes.svg()
    assert re.search(r"<title>y\[120\]: expected no change, got -?\d", lanes.svg())


def test_the_picture_says_which_block_wrote_what_and_where_several_did() -> None:
    one = find("02.share")
    assert "block 1 wrote y[40] to y[79]" in check(one, one.solution).lanes[0].text()
    assert "several blocks wrote y[0] to y[99]" in check(one, "first = 0; end = n;").lanes[0].text()


def test_what_is_not_a_named_mistake_is_shown_as_it_is() -> None:
    result = check(find("04.count"), "Muls(y, x, 3.0f, 100);")
    assert re.fullmatch(r"y\[0\] is \S+; \S+ is right", result.message)
    assert "Muls(y, x, 3.0f, 100);" in repr(result)
    none = check(find("04.count"), "int unused = 0; (void)unused;")
    assert none.message == "part of y is written: y[0] to y[99] still holds what was there before"


@pytest.mark.parametrize(
    ("name", "lines", "said"),
    [
        (
            "02.copy",
            "DataCopyPad(tile, xGm, row, pad); DataCopyPad(yGm[0], tile, row);",
            "MTE3 does not wait for MTE2",
        ),
        ("04.tile", "tile = (ub - 96) / 12;", "not a multiple of 64"),
    ],
    ids=["an index", "a product"],
)
def test_a_mistake_is_known_by_what_it_does_not_by_its_spelling(name: str, lines: str, said: str) -> None:
    assert said in check(find(name), lines).message


def test_a_finding_is_shown_with_what_mends_it() -> None:
    assert "  fix: " in repr(check(find("05.flag"), "Muls(tile, tile, 2.0f, 2048);"))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("for (;;) {}", "never ends"),
        ("int* nobody = nullptr; *nobody = 1;", ""),
        ("} int main() {", ""),
        ('#include "/etc/passwd"', "does not compile"),
        ("Adds(y, x, 0.5f, 100)", "';'"),
        ("\ud800", ""),
        pytest.param(
            '} extern "C" void f() {} static int g = [] { for (;;) {} return 1; }(); void h() {',
            "",
            marks=pytest.mark.thorough,
        ),
    ],
    ids=["loop", "crash", "main", "include", "semicolon", "surrogate", "initialiser"],
)
def test_hostile_lines_harm_nothing(lines: str, said: str) -> None:
    result = check(find("04.count"), lines)
    assert result.status == "failed"
    assert said in result.message
    assert result._repr_html_()


def test_a_pass_is_noted_and_nothing_else_is(tmp_path: Path) -> None:
    progress = ProgressFile(tmp_path)
    assert not puzzle("04.count", "Adds(y, x, 0.5f, 13);", progress=progress).passed
    assert not progress.read().puzzles
    assert puzzle("04.count", find("04.count").solution, progress=progress).passed
    assert list(progress.read().puzzles) == ["04.count"]
    assert not progress.read().passed


def test_an_unknown_puzzle_is_an_error_that_names_its_like() -> None:
    with pytest.raises(ArgumentError, match=r"there is no puzzle '04\.cont'"):
        puzzle("04.cont")
    with pytest.raises(ArgumentError):
        puzzle("../04.count")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("section =", "sections ="), "'sections' is not a key of a puzzle"),
        (('frame = "local"', 'frame = "lokal"'), "'frame' is 'lokal'"),
        (('title = "The first n lanes"', "title = 3"), "'title' has a value of the wrong type"),
        (("lines =", "line ="), r"a \[\[wrong\]\] has name, lines, say"),
    ],
)
def test_a_file_that_is_wrong_is_named(tmp_path: Path, edit: tuple[str, str], said: str) -> None:
    (tmp_path / "puzzles").mkdir()
    text = (ROOT / "exercises" / "puzzles" / "04_count.toml").read_text(encoding="utf-8")
    (tmp_path / "puzzles" / "04_count.toml").write_text(text.replace(*edit), encoding="utf-8")
    with pytest.raises(RegistryError, match=said):
        load(tmp_path)


def test_a_mistake_that_asks_for_the_place_of_a_word_is_not_that_of_lines_without_it() -> None:
    result = check(find("02.copy"), "queue.EnQue(tile);")
    assert result.status == "failed"
    assert "EnQue puts the flag" not in result.message
