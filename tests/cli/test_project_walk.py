"""docs/project-walk.md: its texts make a project, and its steps say what the page says of them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from command_line import Gnt
from walk_project import write_second_tiling, write_walk_project

from gn_tutorial.projects.fuzz import fuzz
from gn_tutorial.projects.project import Project

NOTE = re.compile(r"\[(\w+(?:-\w+)+)\]$", re.MULTILINE)


@pytest.mark.thorough  # the whole page; tests/projects and tests/cli have its commands, one by one
def test_from_the_prototype_to_the_verdict(gnt: Gnt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_walk_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    first = gnt("project", "tiling", "HalfSwish", "--in", "float16[7,33]")
    assert first.code == 0
    assert NOTE.findall(first.out) == ["workspace-unset", "block-dim-constant", "field-never-set"]

    write_second_tiling(folder)
    x = np.zeros((7, 33), np.float16)
    plan = Project(folder).tiling(x)
    assert (plan.blocks, plan["perBlock"], plan.notes) == (15, 16, ())
    assert Project(folder, soc="310b4").tiling(x).blocks == 1
    for words in (("float16[8,2048]",), ("float32[7,33]", "--attr", "beta=0.5")):
        ran = gnt("project", "run", "HalfSwish", "--in", *words, "--reference", "ref.py:half_swish")
        assert ran.code == 0, ran.out + ran.err
        assert "NOT within tolerance" not in ran.out
    tested = gnt("project", "test", "HalfSwish")
    assert tested.code == 0, tested.out
    assert "passed: it says so: test pass: y" in tested.out
    assert re.search(r"beta=1\.0 +47 +0 +0", tested.out)


@pytest.mark.thorough
def test_drawn_cases_tell_the_two_tiling_functions_apart(tmp_path: Path) -> None:
    folder = write_walk_project(tmp_path)
    reference = f"{tmp_path / 'ref.py'}:half_swish"
    report = fuzz(folder, reference, seconds=60, examples=40, max_elements=5000)
    assert {"wrong numbers", "finding", "tiling plan"} & {one.kind for one in report.failures}, report
    write_second_tiling(folder)
    report = fuzz(folder, reference, seconds=90, examples=120, max_elements=20000)
    assert report.ok, report
