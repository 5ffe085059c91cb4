"""``gnt project fuzz``: what it prints, its exit code, and that each line it prints makes the failure again."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import planted_projects
import pytest
from command_line import Gnt
from planted_projects import PROJECTS, planted

from gn_tutorial.cli.project_arguments import attribute_text, attributes_of
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.parameters import OpAttribute

REFERENCE = f"{planted_projects.__file__}:scale_shift"
LONG = ("--seconds", "3600")


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GNT_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.mark.thorough
def test_each_line_makes_its_failure_again(gnt: Gnt, request: pytest.FixtureRequest, data_folder: Path) -> None:
    # The same folder in each run, and the same copy as in tests/projects: compiled once.
    project = planted(request.config.cache.mkdir("planted_projects"), "rank", "empty", "dtype", "nan")
    words = ("project", "fuzz", project, "--reference", REFERENCE, *LONG, "--json")
    ran = gnt(*words, "--examples", 40, "--values", "ordinary,nan", "--max-elements", 4096)
    assert ran.code == 1, ran.err
    report = json.loads(ran.out)
    groups = {one["group"] for one in report["failures"]}
    assert {"wrong numbers", "wrong numbers: NaN or infinity", "tiling refused"} <= groups
    for one in report["failures"]:
        line = shlex.split(one["command"])
        assert line[:3] == ["gnt", "project", "run"]
        again = gnt(*line[1:])
        assert again.code != 0, one
        if one["group"].startswith("wrong numbers"):
            assert "wrong" in again.out
        else:
            assert one["kind"] == "tiling crash" or "the tiling function of ScaleShift returned" in again.err
    assert list(data_folder.rglob("*.npy")), "NaN in the input is kept as a file"
    state = json.loads(next(data_folder.rglob("state.json")).read_text())
    assert state["examples"] == report["examples"] == 40


def test_a_right_project(gnt: Gnt, data_folder: Path) -> None:
    words = ("project", "fuzz", PROJECTS / "scale_shift", "--reference", REFERENCE, *LONG, "--max-elements", 999)
    ran = gnt(*words, "--examples", 5)
    assert (ran.code, "agrees with" in ran.out) == (0, True), ran.err
    assert "5 (5 with earlier runs)" in ran.out
    assert "8 (13 with earlier runs)" in gnt(*words, "--examples", 8).out
    assert "2 (2 with earlier runs)" in gnt(*words, "--examples", 2, "--restart").out
    assert "2 (2 with earlier runs)" in gnt(*words, "--examples", 2, "--seed", 5).out
    next(data_folder.rglob("state.json")).write_text("{")
    ran = gnt(*words)
    assert ran.code == 2
    assert "--restart begins anew" in ran.err


def test_attributes_as_text_are_read_again() -> None:
    values = {"a": -1e-06, "b": True, "c": (1, -2), "d": (), "e": "mean", "f": ((1, 2), (3,)), "g": 7, "h": (0.5,)}
    types = "float bool list_int list_float string list_list_int int list_float".split()
    attributes = tuple(OpAttribute(name, kind) for name, kind in zip(values, types, strict=True))
    words = [f"{name}={attribute_text(value)}" for name, value in values.items()]
    assert attributes_of(OpDefinition("Op", attributes=attributes), words) == values
