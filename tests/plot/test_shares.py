"""The share of the bound by step: a line's points are bound over time, and another dtype has a bound of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.shares import shares
from gn_tutorial.profiler.bench.run import Bench, BenchRow


def row(case: str, step: int, modelled: float, bound: float) -> BenchRow:
    return BenchRow(
        f"op/k{step}", step, case, "own", (1,), {}, case.split()[-1], "ok", modelled_us=modelled, bound_us=bound
    )  # fmt: skip


ROWS = (
    row("(1) G1 float32", 2, 40.0, 9.0),
    row("(1) G1 float32", 3, 6.0, 3.0),
    row("(2) G1 float32", 2, 5.0, 2.5),
    row("(2) G1 float16", 3, 4.0, 1.0),
)


def test_points_are_the_lowest_bound_over_the_time() -> None:
    picture = shares(Bench("op", "Ascend 910B2", ROWS))
    (axis,) = picture.figure.axes
    lines = {line.get_gid(): line for line in axis.lines}
    assert list(lines["(1) G1 float32"].get_ydata()) == pytest.approx([3 / 40, 0.5])
    assert list(lines["(2) G1 float32"].get_ydata()) == pytest.approx([0.5])
    # Half has half the bytes: its own bound, a hollow mark in its shape's colour, right of its step.
    half = lines["(2) G1 float16"]
    assert list(half.get_ydata()) == pytest.approx([0.25])
    assert half.get_markerfacecolor() == "white"
    assert half.get_color() == lines["(2) G1 float32"].get_color()
    assert 1 < half.get_xdata()[0] < 1.5
    assert [label.get_text() for label in axis.get_xticklabels()] == ["2\nk2", "3\nk3"]
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["(1) G1", "(2) G1"]
    assert picture.alt.startswith("Modelled")
    assert (
        "(1) G1 float32: step 2 8%, step 3 50%; (2) G1 float32: step 2 50%; (2) G1 float16: step 3 25%" in picture.alt
    )


def test_nothing_that_ran_and_too_many_shapes_are_refused() -> None:
    with pytest.raises(ArgumentError, match="no kernel that ran"):
        shares(Bench("op", "m", tuple(replace(one, modelled_us=None) for one in ROWS)))
    with pytest.raises(ArgumentError, match="5 shapes are too many"):
        shares(Bench("op", "m", tuple(row(f"({n}) G1 float32", 2, 5.0, 1.0) for n in range(5))))
