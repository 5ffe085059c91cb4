"""Every notebook in JupyterLab: opens without an error, can be read on two screens and in two themes, and runs."""

import json
import shutil
from pathlib import Path

import pytest
from browser_support import LAPTOP, NARROW, ROOT, Desk

NOTEBOOKS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.thorough
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_can_be_read(desk: Desk, name: str) -> None:
    # The course's own, with every answer: copies of the learner come without some.
    path = desk.lab.course / "stored" / name
    path.parent.mkdir(exist_ok=True)
    stored = json.loads(Path(shutil.copy(ROOT / "notebooks" / name, path)).read_text(encoding="utf-8"))
    drawn = sum("image/png" in output.get("data", ()) for cell in stored["cells"] for output in cell.get("outputs", ()))
    notebook = desk.open(f"stored/{name}")
    notebook.trust()
    wrong = []
    for screen in (LAPTOP, NARROW):
        desk.screen(screen)
        for theme in desk.themes():
            looks = notebook.looks()
            assert looks["pictures"] == drawn
            assert looks["texts"] > len(stored["cells"])
            wrong += [f"{screen[0]} px, {theme}, {line}" for line in looks["complaints"]]
    assert not wrong, "\n".join(wrong)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_run_all_cells(desk: Desk, name: str) -> None:
    path = desk.lab.course / "notebooks" / name
    stored = json.loads(path.read_text(encoding="utf-8"))
    notebook = desk.open(f"notebooks/{name}")
    notebook.run_all()
    cells = notebook.contents()["cells"]
    for before, after in zip(stored["cells"], cells, strict=True):
        assert [output["output_type"] for output in after.get("outputs", ()) if output["output_type"] == "error"] == []
        if before["cell_type"] == "code" and before["outputs"]:
            assert after["outputs"], after["source"]
    counts = [cell["execution_count"] for cell in cells if cell["cell_type"] == "code" and cell["source"]]
    assert counts == list(range(1, len(counts) + 1))
    assert notebook.looks()["complaints"] == []
