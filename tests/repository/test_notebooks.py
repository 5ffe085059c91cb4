"""What every notebook of the course keeps to. Their outputs are compared by nbval, which `./gnt test` runs.

nbval compares nothing in a cell without an execution count, and lets a failing shell command pass: both are refused.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

import gn_tutorial as gnt
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.quizzes.quiz import quiz

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# nbval-ignore-output is for what differs between two machines, and each such cell says why in a comment.
TAGS = {"nbval-ignore-output", "raises-exception"}
LONGEST_HELPER = 10
WORDS_BEFORE_WRITING, MOST_WORDS = 600, 4500


@dataclass(frozen=True)
class Notebook:
    path: Path
    content: nbformat.NotebookNode

    @property
    def code(self) -> list[nbformat.NotebookNode]:
        return [cell for cell in self.content.cells if cell.cell_type == "code"]

    @property
    def prose(self) -> str:
        return "\n\n".join(cell.source for cell in self.content.cells if cell.cell_type == "markdown")

    def section(self, title: str) -> str:
        """The text of a section, up to the next heading of its level."""
        found = re.search(rf"^## [^\n]*{title}[^\n]*\n(.*?)(?=^## |\Z)", self.prose, re.MULTILINE | re.DOTALL)
        assert found, f"{self.path.name} has no section '{title}'"
        return found[1]


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> Notebook:
    return Notebook(request.param, nbformat.read(request.param, as_version=nbformat.NO_CONVERT))


def outputs_text(cell: nbformat.NotebookNode) -> str:
    parts = []
    for output in cell.outputs:
        parts.append(output.get("text", ""))
        parts += [value for kind, value in output.get("data", {}).items() if kind.startswith("text/")]
        parts += [output.get("evalue", ""), *output.get("traceback", [])]
    return "\n".join(parts)


def test_there_are_notebooks_and_they_are_numbered() -> None:
    assert [path.name[:2] for path in NOTEBOOKS] == [f"{number:02}" for number in range(16)]


def test_it_is_valid_and_in_the_current_format(notebook: Notebook) -> None:
    nbformat.validate(notebook.content)
    assert (notebook.content.nbformat, notebook.content.nbformat_minor) == (4, 5)
    assert notebook.path.read_text(encoding="utf-8").endswith("}\n")


def test_its_cells_have_names_that_stay(notebook: Notebook) -> None:
    names = [cell.id for cell in notebook.content.cells]
    assert len(set(names)) == len(names)
    for name in names:
        assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name), f"{name}: words, joined by hyphens"
        assert not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]+)*", name), f"{name} was made by an editor"


def test_its_metadata_belongs_to_the_lesson_and_not_to_a_machine(notebook: Notebook) -> None:
    assert set(notebook.content.metadata) <= {"kernelspec"}
    assert notebook.content.metadata.kernelspec.name == "python3"
    for cell in notebook.content.cells:
        assert set(cell.metadata) <= {"tags"}
        assert set(cell.metadata.get("tags", ())) <= TAGS


def test_it_was_run_from_top_to_bottom(notebook: Notebook) -> None:
    counts = [cell.execution_count for cell in notebook.code]
    assert counts == list(range(1, len(counts) + 1))
    assert all(cell.source.strip() for cell in notebook.code), "an empty cell"


def test_no_cell_runs_a_shell(notebook: Notebook) -> None:
    for cell in notebook.code:
        assert not re.search(r"^\s*(!|%)|get_ipython|subprocess|os\.system", cell.source, re.MULTILINE), cell.id


def test_it_comes_in_by_the_door(notebook: Notebook) -> None:
    """`import gn_tutorial as gnt` is all that a learner has to know; a helper that many need stands in gnt.lessons."""
    for cell in notebook.code:
        for node in ast.walk(ast.parse(cell.source)):
            match node:
                case ast.ImportFrom(module=str(module)):
                    assert module.partition(".")[0] != "gn_tutorial", f"{cell.id} imports {module}"
                case ast.Import(names=names):
                    for alias in names:
                        own = alias.name.partition(".")[0] == "gn_tutorial"
                        assert not own or (alias.name, alias.asname) == ("gn_tutorial", "gnt"), cell.id
                case ast.FunctionDef(name=name):
                    assert name not in gnt.lessons.__all__, f"{cell.id}: {name} is in gnt.lessons"


def test_its_helpers_are_short(notebook: Notebook) -> None:
    for cell in notebook.code:
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                # Its head is one line, however many parameters and types it has.
                length = (node.end_lineno or 0) - node.body[0].lineno + 2
                assert length <= LONGEST_HELPER, (
                    f"{cell.id}: {node.name} has {length} lines; it belongs into the package"
                )


def test_no_output_belongs_to_one_machine(notebook: Notebook) -> None:
    for cell in notebook.code:
        text = outputs_text(cell)
        assert not re.search(r"(?<![\w.])/(?!dev/)(?:[\w.+-]+/)+[\w.+-]+", text), (
            f"{cell.id} shows a path of somebody's machine"
        )
        assert not re.search(r"0x[0-9a-f]{6,}", text), f"{cell.id} shows an address"
        if cell.id == "quiz-ask" or cell.id.startswith("puzzle-"):
            continue  # its text is that of exercises, and times there are asked for
        if "nbval-ignore-output" not in cell.metadata.get("tags", ()):
            # Modelled times are the same everywhere, and are called so wherever they stand.
            timed = re.search(r"\d\s?(ms|µs|us|s)\b|second", text)
            assert not timed or "modelled" in text.lower(), f"{cell.id} shows a time that no model says"
        else:
            assert "#" in cell.source, f"{cell.id} does not say why its output is not compared"


def test_the_learner_writes_soon_and_reads_no_more_than_needed(notebook: Notebook) -> None:
    """Words of Markdown: before the first cell to write in, or the first exercise, and in all."""
    places = [
        cell.cell_type == "code"
        and (cell.id.startswith(("puzzle-", "write-")) or "not attempted yet" in outputs_text(cell))
        for cell in notebook.content.cells
    ]
    words = [len(cell.source.split()) if cell.cell_type == "markdown" else 0 for cell in notebook.content.cells]
    assert sum(words[: places.index(True)]) <= WORDS_BEFORE_WRITING
    assert sum(words) <= MOST_WORDS


def test_no_output_is_an_accident(notebook: Notebook) -> None:
    for cell in notebook.code:
        for output in cell.outputs:
            assert output.get("name") != "stderr", f"{cell.id} printed to stderr, which strict nbval refuses"
            allowed = "raises-exception" in cell.metadata.get("tags", ())
            assert output.output_type != "error" or allowed, f"{cell.id} stores an error"


def test_it_opens_with_a_title_objectives_minutes_and_prerequisites(notebook: Notebook) -> None:
    first = notebook.content.cells[0].source
    number = notebook.path.name[:2]
    assert re.match(rf"# {number}\b.+", first)
    for word in (r"\*\*Objectives\*\*", r"\*\*Time\*\*: about \d+ minutes", r"\*\*Prerequisites\*\*"):
        assert re.search(word, first), f"{word} is missing from the first cell"
    assert len(re.findall(r"^- ", first, re.MULTILINE)) >= 3, "objectives as a list"


def test_it_has_a_plot_with_a_description(notebook: Notebook) -> None:
    plots = [o for cell in notebook.code for o in cell.outputs if "image/png" in o.get("data", {})]
    assert plots
    for plot in plots:
        assert len(plot.data["text/plain"]) > 60, "the text form of a plot says what it shows"
        assert not plot.data["text/plain"].startswith("<"), "a plot without words"


def test_its_quiz_stands_before_the_end_and_is_read_without_a_kernel(notebook: Notebook) -> None:
    """What is right, and that each answer is explained, is the quiz's own test; here, that it is stored so."""
    number = notebook.path.name[:2]
    asked = notebook.code[-1]
    assert (asked.id, asked.source) == ("quiz-ask", f'gnt.quiz("{number}")')
    assert f"gnt quiz {number}" in notebook.section("Quiz")
    (shown,) = asked.outputs
    html = "".join(shown.data["text/html"])
    assert html.count("<details") == html.count("</details>") == len(quiz(number).questions)
    assert html.count(" is right: ") == len(quiz(number).questions), "one choice is right, and said to be"
    assert set(shown.data) == {"text/html", "text/plain"}


def test_every_exercise_has_hints_of_three_levels(notebook: Notebook) -> None:
    # A puzzle has its own below its cell, and a line to write needs none.
    exercises = [cell for cell in notebook.code if not cell.id.startswith(("puzzle-", "write-"))]
    attempts = [cell for cell in exercises if "not attempted yet" in outputs_text(cell)]
    listed = [exercise for exercise in load_course() if exercise.notebook == notebook.path.name[:2]]
    assert len(attempts) >= len(listed), "an exercise that was left alone prints 'not attempted yet'"
    hints = re.findall(r"<summary>Hint (\d)", notebook.prose)
    assert hints == ["1", "2", "3"] * len(attempts)


def test_it_ends_with_what_the_reader_can_do_and_what_comes_next(notebook: Notebook) -> None:
    assert len(re.findall(r"^- ", notebook.section("What you can do now"), re.MULTILINE)) >= 3
    assert "Next" in notebook.content.cells[-1].source


#: An edition by its number, so that a link leads to the same text next year: "latest" does not.
OFFICIAL = re.compile(
    r"https://www\.hiascend\.com/document/detail/zh/"
    r"(?:CANNCommunityEdition|canncommercial|Pytorch)/\d{2,3}(?:RC\d)?/[\w/.-]+\.(?:html|md)"
)


def official_pages(notebook: Notebook) -> dict[str, str]:
    """Title -> address, of the links in the section 'Official pages'."""
    section = notebook.section("Official pages")
    assert section.count("](") == len(re.findall(r"^- ", section, re.MULTILINE)), "one link a line"
    return dict(re.findall(r"^- \[([^\]]+)\]\(([^)]+)\)", section, re.MULTILINE))


def test_it_links_official_pages_of_what_it_uses(notebook: Notebook) -> None:
    """Offline: that an address has the form of one, and an edition. Whether a page answers is looked at by hand."""
    pages = official_pages(notebook)
    found = [address for address in pages.values() if OFFICIAL.fullmatch(address)]
    assert len(found) >= 2, "two pages of Huawei's documentation at least"
    for address in pages.values():
        assert OFFICIAL.fullmatch(address) or address.startswith("https://docs.pytorch.org/"), address
    headings = re.findall(r"^## (?:\d+\. )?(.+)$", notebook.prose, re.MULTILINE)
    assert headings[-2:] == ["Official pages", "What you can do now"]


def test_a_page_has_one_title_and_one_address_in_all_notebooks() -> None:
    pairs = set()
    for path in NOTEBOOKS:
        pairs |= set(official_pages(Notebook(path, nbformat.read(path, as_version=nbformat.NO_CONVERT))).items())
    assert len({title for title, _ in pairs}) == len({address for _, address in pairs}) == len(pairs)


def test_every_collapsible_block_is_closed_and_every_link_leads_somewhere(notebook: Notebook) -> None:
    assert notebook.prose.count("<details>") == notebook.prose.count("</details>")
    for target in re.findall(r"\]\(([^)#]+)\)", notebook.prose):
        assert target.startswith("https://") or (notebook.path.parent / target).exists(), target


def test_a_learner_s_solved_exercises_change_no_stored_output(tmp_path: Path) -> None:
    """The notebook alone, as in `./gnt test notebooks`: the test fails without the conftest.py of the top folder."""
    root = NOTEBOOKS[0].parent.parent
    # As ./gnt test runs them: where a learner's files are differs from one to the next.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env"]
    command += ["--nbval-sanitize-with", "tests/nbval_sanitize.cfg"]
    solved = os.environ | {"GNT_EXERCISES_DIR": str(root / "solutions"), "GNT_DATA_DIR": str(tmp_path)}
    run = subprocess.run([*command, str(NOTEBOOKS[1])], cwd=root, env=solved, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
    assert not list(tmp_path.iterdir()), "progress was written"


def test_an_exercise_names_a_section_of_its_notebook(notebook: Notebook) -> None:
    headings = re.findall(r"^## (.+)$", notebook.prose, re.MULTILINE)
    for exercise in load_course():
        if exercise.notebook == notebook.path.name[:2]:
            assert any(exercise.section in heading for heading in headings), f"{exercise.id}: {exercise.section}"


def test_a_quiz_names_a_section_of_its_notebook(notebook: Notebook) -> None:
    headings = re.findall(r"^## (.+)$", notebook.prose, re.MULTILINE)
    number = notebook.path.name[:2]
    for question in quiz(number).questions:
        named = re.fullmatch(rf"Notebook {number}, section '(.+)'", question.source)
        assert not named or any(named[1] in heading for heading in headings), question.source


@pytest.mark.parametrize(
    ("attempt", "answer"),
    [
        ("None", "not attempted yet"),
        ("2048", "20 copies in: right"),
        ("2002", "20 copies in: right"),
        ("2494", "20 copies in: right"),
        ("2495", "19 copies in: 20 are asked for"),
        ("4096", "12 copies in: 20 are asked for"),
        ("2504", "16 copies in: 20 are asked for"),
        ("2001", "23 copies in: 20 are asked for"),
        ("65536", "Unified Buffer"),
        ("0", "reserves no memory"),
        ("'half'", "does not compile"),
    ],
)
def test_the_exercise_of_00_takes_right_answers_only(
    attempt: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = {cell.id: cell.source for cell in nbformat.read(NOTEBOOKS[0], as_version=nbformat.NO_CONVERT).cells}
    assert "my_tile = None" in cells["turn-attempt"]
    changed = cells["turn-attempt"].replace("my_tile = None", f"my_tile = {attempt}")
    names: dict[str, object] = {}
    for source in (cells["imports"], cells["run-copy"], cells["break-run"]):
        exec(source, names)
    capsys.readouterr()
    exec(changed, names)
    assert answer in capsys.readouterr().out
