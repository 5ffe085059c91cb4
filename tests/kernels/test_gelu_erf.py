"""The tail that GELU is made of where it has the error function: what its coefficients are worth."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.registry import kernels_root
from gn_tutorial.reference import gelu, gelu_backward

GELU, BACKWARD = kernel("gelu/queue"), kernel("gelu_backward/queue")
HEADER = (kernels_root() / "common" / "common_gelu_erf.h").read_text("utf-8")
SCALE = np.float32(re.search(r"kGeluTailScale = ([\d.]+)f", HEADER)[1])
LISTED = re.search(r"kGeluTail\[kGeluTailTerms\] = \{([^}]*)\}", HEADER)[1]
TAIL = [np.float32(one) for one in re.findall(r"(-?[\d.]+)f", LISTED)]
#: The distance from 0 at which the tail is no float any more, not even a subnormal one.
END = 14.4


def tail_ratio(x: np.ndarray, dtype: type) -> np.ndarray:
    """t P(t) of the header, each operation rounded to ``dtype``."""
    x = x.astype(dtype)
    t = 1 / (1 + dtype(SCALE) * x)
    p = np.zeros_like(t)
    for one in reversed(TAIL):
        p = (p + dtype(one)) * t
    return p


@pytest.mark.parametrize(("dtype", "most"), [(np.float64, 1.1e-7), (np.float32, 4.1e-7)])
def test_the_coefficients_are_as_good_as_the_header_says(dtype: type, most: float) -> None:
    assert len(TAIL) == 8
    x = np.linspace(0, END, 40_001).astype(np.float32).astype(np.float64)
    truth = np.array([math.exp(one * one / 2) * 0.5 * math.erfc(one / math.sqrt(2)) for one in x])
    error = np.abs(tail_ratio(x, dtype) / truth - 1)
    assert most / 2 < error.max() < most


def test_below_zero_the_digits_are_those_of_the_exponent() -> None:
    """No term cancels, so the error is the rounding of x^2 / 2, at most 2^-24 of it, and that of a few factors."""
    x = np.linspace(-13, -1e-3, 30_001, dtype=np.float32)
    allowed = 6e-7 + x.astype(np.float64) ** 2 / 2 * 2.0**-24
    error = np.abs(GELU(x).y / gelu(x) - 1)
    assert (error < allowed).all(), x[(error / allowed).argmax()]
    # From where x + phi / Phi is no small difference: the derivative crosses zero at -0.7518.
    x = x[x < -1]
    error = np.abs(BACKWARD(np.ones_like(x), x).dx / gelu_backward(np.ones_like(x), x) - 1)
    assert (error < 3e-6 + allowed[: x.size]).all(), x[error.argmax()]


def test_above_zero_the_gradient_is_one_minus_that_below() -> None:
    """So the step between both has no effect, wherever it is between 0 and 1."""
    x = np.concatenate([10.0 ** np.linspace(-38, 1.3, 4000), [0.0, 2.0**-64, 2.0**-65]]).astype(np.float32)
    above, below = (BACKWARD(np.ones_like(x), one).dx for one in (x, -x))
    np.testing.assert_allclose(above, 1 - below, rtol=2.0**-23)
    near = x < 1e-8
    np.testing.assert_allclose(above[near], 0.5, rtol=2e-7)


def test_large_numbers_come_back_as_they_are() -> None:
    x = np.concatenate([np.linspace(6, 40, 5000), 10.0 ** np.linspace(2, 38, 100)]).astype(np.float32)
    np.testing.assert_array_equal(GELU(x).y, x)
    np.testing.assert_array_equal(BACKWARD(x, x).dx, np.where(x > 6.5, x, BACKWARD(x, x).dx))
