"""Outputs of a call: lists of tensors, outputs that are left out, inferred or given, lists in place."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.errors import ArgumentError, KernelFault
from gn_tutorial.projects.fuzz import fuzz
from gn_tutorial.projects.fuzz_report import case_of_json, case_to_json
from gn_tutorial.projects.test_runner.own_test import run_own_test

PROJECTS = Path(__file__).parents[1] / "programs" / "projects"
ROW_SPLIT = PROJECTS / "row_split"
X = np.random.default_rng(3).standard_normal(100).astype(np.float32)
TWO = [gnt.out(60), gnt.out((8, 5))]


def split(x: np.ndarray) -> list[np.ndarray]:
    """Two halves of 2x, and where they end."""
    if x.ndim != 1 or x.size < 2 or x.size % 2:
        raise ValueError("an even number of elements")
    return [2 * x[: x.size // 2], 2 * x[x.size // 2 :], np.array([x.size // 2, x.size])]


@pytest.mark.parametrize("isolated", [True, False])
@pytest.mark.parametrize("wanted", [{"y": TWO}, {"y": TWO, "ends": None}, [TWO, gnt.out(2, "int32")], [TWO, None]])
def test_a_list_and_an_output_that_may_be_left_out(wanted: Any, isolated: bool) -> None:
    result = gnt.project(ROW_SPLIT)(X, out=wanted, isolated=isolated)
    with_ends = wanted.get("ends", True) if isinstance(wanted, dict) else wanted[1]
    assert list(result.outputs) == ["y[0]", "y[1]", *(["ends"] if with_ends is not None else [])]
    np.testing.assert_array_equal(result["y[0]"], 2 * X[:60])
    np.testing.assert_array_equal(result["y[1]"], 2 * X[60:].reshape(8, 5))
    if with_ends is not None:
        np.testing.assert_array_equal(result.ends, [60, 100])
    assert not result.diagnostics


def test_what_is_not_said_is_inferred() -> None:
    project = gnt.project(ROW_SPLIT)
    assert project.infer(X) == [("y[0]", "float32", (100,)), ("ends", "int32", (1,))]
    assert project.tiling(X, out={"y": TWO}).outputs[2] == ("ends", "int32", (2,))
    left_out = project.tiling(X, out={"ends": None})
    assert left_out.outputs == (("y[0]", "float32", (100,)),)
    assert (left_out["tensors"], left_out["wantsEnds"]) == (1, 0)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"y": None}, "the output 'y' cannot be left out"),
        ({"z": None}, "RowSplit has no output 'z'"),
        ([gnt.out(100)], "1 outputs for RowSplit, which has 2"),
        ({"ends": TWO}, "2 tensors for the output 'ends', which is one"),
        ({"ends": 2}, "the output 'ends' is 2"),
    ],
)
def test_outputs_that_do_not_fit(wanted: Any, said: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        gnt.project(ROW_SPLIT).tiling(X, out=wanted)
    assert caught.value.what == said
    assert caught.value.hint


def test_a_kernel_that_writes_what_the_caller_left_out(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ROW_SPLIT, tmp_path / "copy"))
    kernel = folder / "op_kernel" / "row_split.cpp"
    kernel.write_text(kernel.read_text().replace("if (wantsEnds && GetBlockIdx() == 0)", "if (GetBlockIdx() == 0)"))
    with pytest.raises(KernelFault):
        gnt.project(folder)(X, out={"y": TWO, "ends": None})
    assert gnt.project(folder)(X, out={"y": TWO}).ends[0] == 60


def test_a_list_in_place(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(PROJECTS / "list_scale", tmp_path / "copy"))
    host = folder / "op_host" / "list_scale.cpp"
    host.write_text(host.read_text().replace('Output("y")', 'Output("x")'))
    x = [X[:15].reshape(3, 5), X[15:]]
    for isolated in (True, False):
        result = gnt.project(folder)(x, factor=3.0, isolated=isolated)
        assert list(result.outputs) == ["x[0]", "x[1]"]
        for index, one in enumerate(x):
            np.testing.assert_array_equal(result[f"x[{index}]"], one * np.float32(3))


@pytest.mark.thorough
def test_its_own_test_with_a_list_and_a_null_pointer() -> None:
    done = run_own_test(ROW_SPLIT)
    assert done.passed, repr(done)
    assert [[name for name, _, _ in one.outputs] for one in done.launches] == [
        ["y[0]", "y[1]", "ends"],
        ["y[0]", "y[1]"],
    ]


@pytest.mark.thorough
def test_drawn_cases_have_lists_and_leave_outputs_out() -> None:
    def scaled(x: list[np.ndarray], factor: float = 2.0) -> list[np.ndarray]:
        return [one * factor for one in x]

    def wrong_of_five(x: list[np.ndarray], factor: float = 2.0) -> list[np.ndarray]:
        return [one * factor if one.size < 5 else one for one in x]

    report = fuzz(PROJECTS / "list_scale", scaled, seconds=60, examples=40, max_elements=4000)
    assert report.ok, report
    assert report.compared == 40
    report = fuzz(PROJECTS / "list_scale", wrong_of_five, seconds=60, examples=60, failures=1, max_elements=4000)
    (failure,) = report.failures
    (plan,) = failure.case.inputs
    assert plan is not None
    assert plan.more == ()  # shrunk to a list of one tensor
    assert plan.shape == (5,)
    assert case_of_json(case_to_json(failure.case)) == failure.case

    report = fuzz(ROW_SPLIT, split, seconds=60, examples=150, max_elements=2000)
    assert report.ok, report
    assert report.compared > 5
