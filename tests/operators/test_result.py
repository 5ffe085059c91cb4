"""Results: access to outputs, stable text, and a comparison that cannot be fooled."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

from gn_tutorial.compare.tolerance import Tolerance
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.result import Result
from gn_tutorial.runtime.launch_types import LaunchResult, Tally

TALLY = Tally(scalar=12, vector=3456, mte2=7, mte3=8, bytes_in=4096, bytes_out=2048, ub_high_water=512)


def result(**changes: Any) -> Result:
    launched = LaunchResult(
        arrays={"y": np.array([1.0, 2.0], np.float32), "mean": np.array([[0.5]], np.float32)},
        tally=TALLY,
        seconds=0.123,
        printed="",
        observed=True,
    )
    told = {field.name for field in dataclasses.fields(LaunchResult)}
    launched = dataclasses.replace(launched, **{name: value for name, value in changes.items() if name in told})
    made = Result(kernel="demo", blocks=2, launched=launched)
    return dataclasses.replace(made, **{name: value for name, value in changes.items() if name not in told})


def test_outputs_by_attribute_and_by_key() -> None:
    made = result()
    assert made.y is made["y"] is made.outputs["y"]
    assert "mean" in dir(made)


def test_unknown_output_lists_the_outputs() -> None:
    with pytest.raises(AttributeError, match="no 'rstd'; its outputs: y, mean"):
        _ = result().rstd
    with pytest.raises(KeyError, match="outputs: y, mean"):
        result()["rstd"]


def test_output_named_like_a_fact_is_reached_by_key() -> None:
    made = result(arrays={"seconds": np.zeros(2)})
    assert made.seconds == 0.123
    assert made["seconds"].shape == (2,)


def test_result_can_be_copied_and_pickled() -> None:
    for twin in (copy.deepcopy(result()), pickle.loads(pickle.dumps(result()))):
        np.testing.assert_array_equal(twin.y, result().y)


def test_text_is_stable_and_without_wall_time() -> None:
    assert repr(result()) == repr(result(seconds=9.9, compile_seconds=3.0))
    assert repr(result(printed="hello\nworld\n")).splitlines() == [
        "demo",
        "  y               float32 (2,)",
        "  mean            float32 (1, 1)",
        "  blocks          2",
        "  instructions    3,456 vector, 12 scalar, 7 copies in, 8 copies out",
        "  bytes           4,096 in, 2,048 out",
        "  Unified Buffer  512 bytes",
        "printed:",
        "hello",
        "world",
    ]


def test_bare_result_shows_no_counts() -> None:
    assert "3,456" not in repr(result(observed=False))
    assert "none in a bare build" in repr(result(observed=False))


def test_long_output_is_cut_and_says_so() -> None:
    text = repr(result(printed="".join(f"line {i}\n" for i in range(100))))
    assert "line 19" in text
    assert "line 20" not in text
    assert "80 more lines in .printed" in text


def test_html_escapes_what_a_kernel_printed() -> None:
    html = result(printed="<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def compare(actual: list[float], golden: list[float], **tolerance: float) -> Any:
    return result(arrays={"y": np.array(actual, np.float32)}).compare(np.array(golden), **tolerance).rows[0]


def test_errors_are_measured() -> None:
    row = compare([1.0, 2.25], [1.0, 2.0], rtol=0.1)
    assert row.max_abs == 0.25
    assert row.max_rel == pytest.approx(0.125)
    assert row.used == pytest.approx(0.25 / 0.2)
    assert row.wrong == 1
    assert not row.ok


def test_tolerance_is_absolute_plus_relative() -> None:
    assert compare([10.5], [10.0], rtol=0.03, atol=0.2).ok
    assert not compare([10.5], [10.0], rtol=0.03, atol=0.1).ok


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_value_that_is_not_finite_is_wrong_whatever_the_tolerance(bad: float) -> None:
    assert not compare([bad], [1.0], atol=1e30).ok
    assert not compare([1.0], [bad], atol=1e30, rtol=1e30).ok


def test_a_tolerance_may_grow_with_the_largest_reference() -> None:
    sums = result(arrays={"y": np.array([1000.5, 1.5, 7.0], np.float32)})
    golden = np.array([1000.0, 1.0, np.inf])
    tolerance = Tolerance(0.0, 0.1, "a sum", of_largest=4e-4)
    row = sums.compare(golden, tolerance).rows[0]
    assert row.wrong == 1  # the infinity, which is no largest reference either
    assert sums.compare(golden, Tolerance(0.0, 0.1, "a sum", of_largest=3e-4)).rows[0].wrong == 3
    assert "0.1 + 0 |reference| + 0.0004 largest |reference|" in sums.compare(golden, tolerance).title()


def test_not_finite_is_right_where_the_reference_is_the_same() -> None:
    inf = float("inf")
    row = compare([float("nan"), inf, -inf], [float("nan"), inf, -inf])
    assert row.ok
    assert (row.max_abs, row.max_rel) == (0.0, 0.0)
    assert compare([inf], [-inf], atol=1.0).wrong == 1


def test_a_large_output_is_compared_in_pieces_and_every_piece_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    got = np.array([[1.0, 2.0, 3.0], [4.5, 5.0, 6.0], [7.0, 8.0, 11.0]])
    want = np.arange(1.0, 10.0).reshape(3, 3)
    whole = compare(got, want, rtol=0.01)
    assert (whole.wrong, whole.max_abs) == (2, 2.0)
    monkeypatch.setattr("gn_tutorial.compare.comparison._PIECE", 4)
    assert compare(got, want, rtol=0.01) == whole
    got[2, 2] = np.nan
    assert np.isnan(compare(got, want, rtol=0.01).max_abs)


def test_other_shape_is_wrong_even_if_it_broadcasts() -> None:
    row = compare([1.0, 1.0], [1.0])
    assert not row.ok
    assert row.note == "the reference has shape (1,)"


def test_empty_output_is_right() -> None:
    assert compare([], []).ok


def test_reference_by_name_by_order_and_alone() -> None:
    tolerance = Tolerance(0.0, 0.0, "exact")
    y, mean = np.array([1.0, 2.0]), np.array([[0.5]])
    assert result().compare((y, mean), tolerance).ok
    assert result().compare({"mean": mean}, tolerance).ok
    assert not result().compare((y, mean + 1), tolerance).ok


def test_reference_that_does_not_pair_is_refused() -> None:
    with pytest.raises(ArgumentError, match="1 arrays and the kernel 2 outputs"):
        result().compare(np.zeros(2))
    with pytest.raises(ArgumentError, match="rstd"):
        result().compare({"rstd": np.zeros(2)})


def test_an_output_of_a_narrow_dtype_has_its_own_tolerance() -> None:
    tolerance = Tolerance(0.0, 0.1, "float32", narrow=(("float16", Tolerance(0.0, 1.0, "float16")),))
    both = result(arrays={"y": np.array([1.5], np.float16), "mean": np.array([1.5], np.float32)})
    compared = both.compare((np.array([1.0]), np.array([1.0])), tolerance)
    assert [row.ok for row in compared.rows] == [True, False]
    assert compared.title() == (
        "NOT within tolerance: y |error| <= 1 + 0 |reference|; mean |error| <= 0.1 + 0 |reference|"
    )


def test_comparison_shows_the_verdict() -> None:
    shown = result().compare((np.array([1.0, 2.0]), np.array([[0.75]])), Tolerance(0.0, 0.1, "demo"))
    assert repr(shown).splitlines() == [
        "NOT within tolerance: |error| <= 0.1 + 0 |reference|",
        "  output  shape   max abs error  max rel error  of tolerance  status",
        "  y       (2,)    0.0e+00        0.0e+00        0%            ok",
        "  mean    (1, 1)  2.5e-01        3.3e-01        250%          wrong",
    ]
    assert "NOT within" in shown._repr_html_()
