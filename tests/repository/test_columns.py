"""What a learner reads has 88 columns at most: code cells of notebooks, stubs, solutions.

JupyterLab shows no more beside its file browser on a laptop's screen, and a longer line is cut or folded there.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 88
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# Not the checks and their helpers, beside the solutions: no learner reads them.
SOURCES = sorted(
    path for folder in ("exercises", "solutions") for path in (ROOT / folder).glob("[0-9][0-9]_*/[0-9][0-9]_[0-9]_*.*")
)


def too_long(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > COLUMNS]


def test_a_line_of_89_columns_is_found() -> None:
    assert too_long(f"{'a' * 88}\n{'b' * 89}\n\n") == ["b" * 89]
    assert len(NOTEBOOKS) > 10
    assert {path.suffix for path in SOURCES} >= {".cpp", ".h", ".py"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_code_of_a_notebook(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = {cell["id"]: "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"}
    assert {name: long for name, source in code.items() if (long := too_long(source))} == {}


@pytest.mark.parametrize("folder", ["exercises", "solutions"])
def test_code_of_an_exercise(folder: str) -> None:
    sources = [path for path in SOURCES if path.parts[-3] == folder and path.suffix in (".cpp", ".h", ".py")]
    assert len(sources) > 20
    assert {path.name: long for path in sources if (long := too_long(path.read_text(encoding="utf-8")))} == {}
