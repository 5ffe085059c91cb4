"""Numbers beside their reference without NumPy: the rule of ``compare/tolerance``."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from gn_tutorial.compare.tolerance import within
from gn_tutorial.course.playground.numbers import said, values, wrong

ODD = [0.0, -0.0, 1.0, 1.001, -2.5, 3.0e4, float("inf"), float("-inf"), float("nan")]


@pytest.mark.parametrize(("rtol", "atol"), [(0.0, 0.0), (1e-3, 0.0), (0.0, 1e-2), (0.5, 1.0)])
def test_the_same_elements_are_wrong(rtol: float, atol: float) -> None:
    got, want = (np.array(one) for one in zip(*((a, b) for a in ODD for b in ODD), strict=True))
    assert wrong(list(got), list(want), rtol, atol) == np.flatnonzero(~within(got, want, rtol, atol)).tolist()


def test_the_largest_reference_widens_the_tolerance() -> None:
    want = [100.0, 1.0, math.inf]
    assert wrong([100.0, 1.5, math.inf], want, 0.0, 0.0, of_largest=0.01) == []
    assert wrong([100.0, 2.5, math.inf], want, 0.0, 0.0, of_largest=0.01) == [1]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, ml_dtypes.bfloat16, np.int8, np.int32, np.uint16, np.bool_])
def test_bytes_are_read_as_numpy_reads_them(dtype: type) -> None:
    array = np.array([0, 1, 3, 100], dtype)
    assert values(array.tobytes(), np.dtype(dtype).name) == array.astype(np.float64).tolist()


def test_the_first_wrong_element_is_named_by_its_place() -> None:
    got, want = [0.0] * 12, [0.0] * 12
    got[7] = got[9] = 0.5
    assert said("y", (2, 3, 2), got, want, [7, 9]) == "y: 2 of 12 wrong; first y[1, 0, 1] is 0.5, the reference 0"
    assert said("y", (2, 3, 2), want, want, []) == "y: all 12 right"
