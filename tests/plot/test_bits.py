"""The picture of the bits shows the numbers it was given."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import pytest

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.bits import bits_over_orders

TRUTH = np.array([1.0, -3.0, 1.0e-3])
STILL = np.array([[1.0, -3.0, 1.1e-3]] * 4, np.float32)
# Element 1 has one more in its last place, then two more; the others stay.
MOVING = STILL.copy()
MOVING[1, 1] = np.nextafter(np.float32(-3.0), np.float32(-4.0))
MOVING[3, 1] = np.nextafter(MOVING[1, 1], np.float32(-4.0))
RUNS = {"atomic": MOVING, "two stages": STILL}


def images(picture: Any, gid: str) -> list[np.ndarray]:
    found = [image for axis in picture.figure.axes for image in axis.images if image.get_gid() == gid]
    return [np.asarray(image.get_array()) for image in found]


def test_the_bits_of_one_element_and_those_that_changed() -> None:
    atomic, still = images(bits_over_orders(RUNS, TRUTH, element=1), "bits")
    orange = np.array([matplotlib.colors.to_rgb(one) for one in ("#b35806", "#fdb863")])
    changed = (atomic[:, :, None, :] == orange).all(axis=3).any(axis=2)
    # -3.0 is 1 10000000 1000...00: the last place is set first, then the one before it.
    assert [np.flatnonzero(row).tolist() for row in changed] == [[], [31], [], [30]]
    assert not (still[:, :, None, :] == orange).all(axis=3).any()
    dark = (still[0] == matplotlib.colors.to_rgb("#33445c")).all(axis=1)
    assert np.flatnonzero(dark).tolist() == [0, 1, 9]


def test_the_errors_of_all_elements_in_steps_of_the_last_place() -> None:
    (errors,) = images(bits_over_orders(RUNS, TRUTH, element=1), "errors atomic")
    assert errors.shape == MOVING.shape
    np.testing.assert_allclose(errors[:, 0], 0)
    np.testing.assert_allclose(errors[:, 1], [0, -1, 0, -2])
    step = 2.0**-33  # of the floats from 2^-10 on, where 1.0e-3 lies
    np.testing.assert_allclose(errors[:, 2], (np.float64(np.float32(1.1e-3)) - 1.0e-3) / step)


def test_the_text_counts_numbers_and_elements() -> None:
    alt = bits_over_orders(RUNS, TRUTH, element=1).alt
    assert "4 launches" in alt
    assert "atomic: element 1 is one of 3 numbers, 1 of 3 elements change" in alt
    assert "two stages: element 1 is the same number in every launch, 0 of 3 elements change" in alt


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"runs": {}}, "0 kernels; 1 to 3"),
        ({"runs": {str(n): STILL for n in range(4)}}, "4 kernels"),
        ({"runs": {"a": STILL[:, :2]}}, r"'a' needs float32 of shape \(launches, 3\)"),
        ({"runs": {"a": STILL[:1]}}, "two launches or more"),
        ({"runs": {"a": STILL.astype(np.float64)}}, "'a' needs float32"),
        ({"runs": {"a": STILL * np.float32("nan")}}, "'a' has numbers that are not finite"),
        ({"runs": {"a": STILL, "b": STILL[:2]}}, "the same number of launches"),
        ({"truth": TRUTH.astype(np.float32)}, "one finite float64"),
        ({"truth": TRUTH * np.inf}, "one finite float64"),
        ({"element": 3}, "there is no element 3; there are 3"),
        ({"element": -1}, "there is no element -1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {"runs": RUNS, "truth": TRUTH, "element": 0} | change
    with pytest.raises(ArgumentError, match=words):
        bits_over_orders(**arguments)
