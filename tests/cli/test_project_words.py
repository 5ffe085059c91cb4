"""The words after ``gnt project run P``: outputs by name, lists, and outputs that are left out."""

from __future__ import annotations

from pathlib import Path

from command_line import Gnt
from planted_projects import PROJECTS

ROW_SPLIT = PROJECTS / "row_split"


def test_outputs_are_lists_or_left_out(gnt: Gnt, tmp_path: Path) -> None:
    (tmp_path / "ref.py").write_text(
        "def split(x):\n    return [2 * x[:60], 2 * x[60:].reshape(8, 5), [60, 100]]\n", encoding="utf-8"
    )
    words = [
        "project",
        "run",
        str(ROW_SPLIT),
        "--in",
        "float32[100]",
        "--out",
        "y=float32[60]",
        "--out",
        "y=float32[8,5]",
    ]
    for ends in ("int32[2]", "none"):
        ran = gnt(*words, "--out", f"ends={ends}", "--reference", f"{tmp_path / 'ref.py'}:split")
        assert ran.code == 0, ran.err
        assert "within tolerance" in ran.out
        assert ("ends" in ran.out) == (ends != "none")
    for wrong, said in (("z=none", "has no output 'z'"), ("ends=none", "'ends' is given twice"), ("y=none", "'y'")):
        ran = gnt(*words, "--out", "ends=none", "--out", wrong)
        assert ran.code == 2
        assert said in ran.err
    ran = gnt(*words[:5], "--out", "y=none", "--out", "y=float32[8,5]")
    assert (ran.code, "'y' is given twice" in ran.err) == (2, True), ran.err
