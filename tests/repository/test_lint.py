"""The notebook lint: what nbval would let pass has to be found here."""

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def lint() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("lint", str(ROOT / ".ci" / "lint"))
    spec = importlib.util.spec_from_loader("lint", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def cell(source: str, count: int | None, *outputs: dict[str, Any], tags: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "source": source.splitlines(keepends=True),
        "execution_count": count,
        "outputs": list(outputs),
        "metadata": {"tags": list(tags)},
    }


ERROR = {"output_type": "error", "ename": "ValueError"}
STDERR = {"output_type": "stream", "name": "stderr", "text": ["careful"]}
FIRST, SECOND = ({"output_type": "stream", "name": "stdout", "text": [text]} for text in ("one\n", "two\n"))
WIDGET = {"output_type": "display_data", "data": {"application/vnd.jupyter.widget-view+json": {"model_id": "1f"}}}
PYTHON = {"kernelspec": {"name": "python3", "language": "python"}}
PROSE = {"cell_type": "markdown", "source": ["!ls is how a shell would do it"]}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([PROSE, cell("1 + 1", 1), cell("", None), cell("x != 1", 2)], []),
        ([cell("1 + 1", None)], ["cell 1 has no execution count"]),
        ([cell("x = 1\n!ls", 1)], ["cell 1 runs a shell command"]),
        ([PROSE, cell("%%bash\nls", 1)], ["cell 2 runs a shell command"]),
        ([cell("files = !ls", 1)], ["cell 1 runs a shell command"]),
        ([cell("1 / 0", 1, ERROR)], ["cell 1 stores the error ValueError"]),
        ([cell("1 / 0", 1, ERROR, tags=("raises-exception",))], []),
        ([cell("warn()", 1, STDERR)], ["cell 1 stores text printed to stderr"]),
        ([cell("show()", 1, FIRST, STDERR, SECOND)], ["cell 1 stores text printed to stderr"]),
        ([cell("show()", 1, FIRST, SECOND)], ["cell 1 stores one text in several pieces"]),
        ([cell("show()", 1, WIDGET)], ["cell 1 stores a widget"]),
        ([cell("a", 2), cell("b", 1)], ["not run once each"]),
        ([cell("a", 1), cell("b", 3)], ["not run once each"]),
    ],
)
def test_notebook_complaints(lint: ModuleType, tmp_path: Path, cells: list[dict], expected: list[str]) -> None:
    notebook = tmp_path / "notebook.ipynb"
    notebook.write_text(json.dumps({"cells": cells, "metadata": PYTHON}))
    found = lint.notebook_complaints(notebook)
    assert len(found) == len(expected)
    for complaint, words in zip(found, expected, strict=True):
        assert words in complaint


def test_an_unknown_lint_is_refused(lint: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        lint.main(["rough"])
    known = "ruff, clang-format, notebooks, catalogue, quizzes, translations, apis, spaces, shell"
    assert f"no lint is called rough; there are {known}" in capsys.readouterr().err


def test_pieces_of_a_stream_are_joined(lint: ModuleType, tmp_path: Path) -> None:
    notebook = tmp_path / "notebook.ipynb"
    picture = {"output_type": "display_data", "data": {}}
    notebook.write_text(json.dumps({"cells": [PROSE, cell("show()", 1, FIRST, SECOND, picture, FIRST)]}))
    lint.tidy_outputs(notebook)
    outputs = json.loads(notebook.read_text())["cells"][1]["outputs"]
    assert [output.get("text") for output in outputs] == [["one\n", "two\n"], None, ["one\n"]]


def test_a_widget_is_left_out_and_what_stands_beside_it_stays(lint: ModuleType, tmp_path: Path) -> None:
    notebook = tmp_path / "notebook.ipynb"
    both = {"output_type": "display_data", "data": {**WIDGET["data"], "text/html": ["<p>"]}}
    notebook.write_text(json.dumps({"cells": [cell("show()", 1, FIRST, WIDGET, both)], "metadata": PYTHON}))
    lint.tidy_outputs(notebook)
    outputs = json.loads(notebook.read_text())["cells"][0]["outputs"]
    assert outputs == [FIRST, {"output_type": "display_data", "data": {"text/html": ["<p>"]}}]
    assert lint.notebook_complaints(notebook) == []


def test_a_notebook_that_ruff_would_pass_over_is_found(lint: ModuleType, tmp_path: Path) -> None:
    """Ruff takes a notebook for Python only if its kernelspec says so; without it ours were never checked."""
    notebook = tmp_path / "notebook.ipynb"
    notebook.write_text(json.dumps({"cells": [], "metadata": {"kernelspec": {"name": "python3"}}}))
    assert ["ruff reads no cell" in one for one in lint.notebook_complaints(notebook)] == [True]


@pytest.mark.skipif(find_spec("ruff") is None, reason="ruff is not installed; ./gnt lint does that")
def test_ruff_reads_solutions_with_88_columns_and_checks_with_120(lint: ModuleType, tmp_path: Path) -> None:
    """The lint names exactly the files that the folder's configuration leaves out, so each file is read once."""
    ruff = Path(sys.executable).with_name("ruff")
    shown = subprocess.run([ruff, "check", "solutions", "--show-files"], cwd=ROOT, capture_output=True, text=True)
    read = {Path(line).relative_to(ROOT) for line in shown.stdout.splitlines() if line.endswith(".py")}
    topics = set(lint.files("solutions/[0-9]*/*.py"))
    assert read & topics == set(lint.files(lint.LEARNERS_SOLUTIONS))
    assert len(topics - read) > 46
    long = tmp_path / "00_1.check.py"
    check = ("ruff", "check", "--quiet", "--select", "E501", "--config", "pyproject.toml")
    for columns, content in ((120, True), (121, False)):
        long.write_text(f'x = "{"a" * (columns - 6)}"\n')
        assert lint.run(*check, long, quiet=True) == content


@pytest.mark.skipif(find_spec("ruff") is None, reason="ruff is not installed; ./gnt lint does that")
def test_a_line_of_a_cell_has_88_columns(lint: ModuleType, tmp_path: Path) -> None:
    """As ruff sees it, with the notebooks' own configuration: it fails on a longer one, and on none of ours."""
    long = tmp_path / "long.ipynb"
    cells = [cell(f'x = "{"a" * 83}"\n', 1), cell(f'y = "{"a" * 82}"\n', 2)]
    long.write_text(json.dumps({"cells": cells, "metadata": PYTHON, "nbformat": 4, "nbformat_minor": 5}))
    check = ("ruff", "check", "--quiet", "--select", "E501", "--config", "notebooks/ruff.toml")
    assert not lint.run(*check, long, quiet=True)
    cells[0]["source"] = cells[1]["source"]
    long.write_text(json.dumps({"cells": cells, "metadata": PYTHON, "nbformat": 4, "nbformat_minor": 5}))
    assert lint.run(*check, long, quiet=True)
