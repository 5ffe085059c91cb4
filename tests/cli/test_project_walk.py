"""docs/project-walk.md: its texts make a project, its commands run, and they say what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from command_line import Gnt

from gn_tutorial.projects.fuzz import fuzz
from gn_tutorial.projects.project import Project

PAGE = (Path(__file__).parents[2] / "docs" / "project-walk.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
FIELDS, FIRST, CLASS, SECOND = (text for language, text in BLOCKS if language == "cpp")
REFERENCE, GOLDEN = (text for language, text in BLOCKS if language == "python")
HOST, HEADER, KERNEL = "op_host/half_swish.cpp", "op_host/half_swish_tiling.h", "op_kernel/half_swish.cpp"


def edit(path: Path, begin: str, end: str, new: str) -> None:
    """Put ``new`` in place of the text from ``begin`` up to ``end``."""
    text = path.read_text(encoding="utf-8")
    first = text.index(begin)
    path.write_text(text[:first] + new + text[text.index(end, first) :], encoding="utf-8")


@pytest.fixture
def folder(gnt: Gnt, tmp_path: Path) -> Path:
    """The project as it stands after the page's second step."""
    (tmp_path / "half_swish.json").write_text(next(text for language, text in BLOCKS if language == "json"))
    (tmp_path / "ref.py").write_text(REFERENCE)
    made = gnt("project", "new", str(tmp_path / "half_swish.json"), str(tmp_path / "HalfSwish"), "--layout", "8.x")
    assert made.code == 0, made.err
    root = tmp_path / "HalfSwish"
    edit(root / HEADER, "// YOUR TURN", "END_TILING_DATA_DEF", FIELDS)
    edit(root / HOST, "  // YOUR TURN: read", "}\n\n}  // namespace optiling", FIRST)
    edit(root / KERNEL, "class KernelHalfSwish", 'extern "C"', f"{CLASS}\n")
    edit(root / KERNEL, "  (void)tilingData;", "  KernelHalfSwish op;", "")
    call = re.search(r"`(op\.Init\(x, y, .*?\))`", PAGE)
    assert call
    edit(root / KERNEL, "op.Init(x, y);", "\n  op.Process", f"{call[1]};")
    edit(root / "AclNNInvocation" / "gen_data.py", "    raise SystemExit", "\n\nif __name__", GOLDEN)
    return root


def second_tiling(root: Path) -> None:
    edit(root / HOST, "  HalfSwishTilingData tiling;", "}\n\n}  // namespace optiling", SECOND)


def test_every_command_of_the_page_is_one_that_is_run_here() -> None:
    lines = [line.split("#")[0].split() for _, text in BLOCKS for line in text.splitlines() if line.startswith("gnt ")]
    ran = {"new", "show", "tiling", "run", "fuzz", "test", "HalfSwish"}
    assert {words[2] if words[1] == "project" else words[2] for words in lines} == ran


def test_from_the_prototype_to_the_verdict(gnt: Gnt, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    shown = gnt("project", "show", "HalfSwish")
    assert shown.code == 0
    assert "float, default 1" in shown.out
    first = gnt("project", "tiling", "HalfSwish", "--in", "float16[7,33]")
    assert first.code == 0
    assert re.findall(r"\[(\w+(?:-\w+)+)\]$", first.out, re.MULTILINE) == [
        "workspace-unset",
        "block-dim-constant",
        "field-never-set",
    ]

    second_tiling(folder)
    plan = Project(folder).tiling(np.zeros((7, 33), np.float16))
    assert (plan.blocks, plan["perBlock"], plan.notes) == (15, 16, ())
    assert Project(folder, soc="310b4").tiling(np.zeros((7, 33), np.float16)).blocks == 1
    for words in (("float16[8,2048]",), ("float32[7,33]", "--attr", "beta=0.5")):
        ran = gnt("project", "run", "HalfSwish", "--in", *words, "--reference", "ref.py:half_swish")
        assert ran.code == 0, ran.out + ran.err
        assert "NOT within tolerance" not in ran.out
    tested = gnt("project", "test", "HalfSwish")
    assert tested.code == 0, tested.out
    assert "passed: it says so: test pass: y" in tested.out
    profiled = gnt("profile", "HalfSwish", "--in", "float16[64,4096]", "--json")
    assert profiled.code == 0, profiled.err
    assert "modelled" in profiled.out


@pytest.mark.thorough
def test_drawn_cases_tell_the_two_tiling_functions_apart(folder: Path) -> None:
    reference = f"{folder.parent / 'ref.py'}:half_swish"
    report = fuzz(folder, reference, seconds=60, examples=40, max_elements=5000)
    assert {"tiling crash", "wrong numbers", "finding"} & {one.kind for one in report.failures}, report
    second_tiling(folder)
    report = fuzz(folder, reference, seconds=90, examples=120, max_elements=20000)
    assert report.ok, report
