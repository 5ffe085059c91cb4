"""Times and bounds of a bench as boxes and bars: the picture agrees with the rows."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.bounds import bounds_and_times
from gn_tutorial.profiler.bench.run import Bench, BenchRow


def row(case: str, step: int, modelled: float | None, bound: float, status: str = "ok") -> BenchRow:
    return BenchRow(
        f"op/k{step}", step, case, "own", (1,), {}, "float32", status, modelled_us=modelled, bound_us=bound
    )  # fmt: skip


def bench(*rows: BenchRow) -> Bench:
    return Bench("op", "Ascend 910B2", rows)


def test_a_bar_ends_at_the_lowest_bound_and_boxes_stand_at_the_times() -> None:
    made = bench(
        row("(1) G1 float32", 2, 40.0, 9.0),
        row("(1) G1 float32", 3, 6.0, 3.0),
        row("(2) G1 float32", 2, 5.0, 2.5),
        row("(2) G1 float32", 3, 5.01, 2.5),
    )
    picture = bounds_and_times(made)
    (axis,) = picture.figure.axes
    bars = [bar for bar in axis.patches if str(bar.get_gid()).startswith("bound")]
    assert [bar.get_x() + bar.get_width() for bar in bars] == [pytest.approx(3.0), pytest.approx(2.5)]
    # Two times that would cover each other share a box.
    assert [(text.get_text(), text.get_position()) for text in axis.texts] == [
        ("3", (6.0, 0)),
        ("2", (40.0, 0)),
        ("2 3", (pytest.approx((5.0 * 5.01) ** 0.5), 1)),
    ]
    # The fastest has another colour than the others.
    colours = [text.get_bbox_patch().get_facecolor() for text in axis.texts]
    assert colours[0] == colours[2] != colours[1]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["(1) G1", "(2) G1"]
    assert axis.get_xscale() == "log"
    assert "2 k2   3 k3" in axis.get_xlabel()
    assert picture.alt.startswith("Modelled")
    assert "(1) G1 float32: bound 3.00 us; op/k2 40.00, op/k3 6.00; nearest op/k3, 2.00 times its bound" in picture.alt


def test_a_box_grows_until_no_other_is_under_it() -> None:
    """5 and 7 are apart from 4, each on its own; the box of both is not."""
    times = {2: 10.4, 3: 8.9, 4: 5.76, 5: 5.49, 6: 5.49, 7: 4.97}
    rows = [row("(1) G1 float32", step, time, 2.9) for step, time in times.items()]
    (axis,) = bounds_and_times(bench(*rows, row("(2) G1 float32", 2, 220.0, 2.2))).figure.axes
    assert [text.get_text() for text in axis.texts] == ["4 5 6 7", "3", "2", "2"]
    axis.figure.draw_without_rendering()
    boxes = [text.get_bbox_patch().get_window_extent() for text in axis.texts[:3]]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_kernels_that_did_not_run_have_no_box() -> None:
    picture = bounds_and_times(bench(row("a b", 2, None, 1.0, "not run"), row("a b", 3, 4.0, 2.0)))
    assert [text.get_text() for text in picture.figure.axes[0].texts] == ["3"]


def test_a_bench_without_times_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no kernel that ran"):
        bounds_and_times(bench(row("a b", 2, None, 1.0, "not run")))
