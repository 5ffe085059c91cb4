"""The pictures of the machine: what is drawn, what the alt text says, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.machine import Ceiling, bounds_roofline, copy_order, core_balance, vector_core

CEILINGS = {"vector": Ceiling("vector units", 4e12), "scalar": Ceiling("scalar units", 2e10)}
KERNELS = {"left": (0.5, "vector"), "right": (16.0, "vector"), "slow": (0.5, "scalar")}


def test_the_core_has_two_memories_and_four_pipes() -> None:
    picture = vector_core()
    (axis,) = picture.figure.axes
    said = " ".join(text.get_text() for text in axis.texts)
    for name in ("GM", "UB", "192 KiB", "MTE2", "MTE3", "V", "S "):
        assert name in said
    for name in ("GM", "UB", "MTE2", "MTE3", "V", "S"):
        assert f" {name}" in picture.alt


def test_a_kernel_lies_under_the_slope_or_under_its_ceiling() -> None:
    picture = bounds_roofline(KERNELS, CEILINGS, 1e12, "two figures")
    (axis,) = picture.figure.axes
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
    drawn = {str(line.get_label()): (line.get_xdata()[0], line.get_ydata()[0]) for line in axis.lines}
    assert drawn["left"] == (0.5, 5e11)  # the slope
    assert drawn["right"] == (16.0, 4e12)  # the vector units
    assert drawn["slow"] == (0.5, 2e10)  # the scalar units
    slope = axis.lines[0]
    np.testing.assert_allclose(slope.get_ydata(), np.multiply(slope.get_xdata(), 1e12))
    np.testing.assert_allclose(slope.get_ydata()[-1], 4e12)


def test_the_roofline_says_that_it_is_a_bound_and_where_it_comes_from() -> None:
    picture = bounds_roofline(KERNELS, CEILINGS, 1e12, "two figures")
    assert "bounds in operations/s" in picture.alt
    assert "two figures" in picture.alt
    assert "two figures" in picture.figure.axes[0].get_title(loc="left")
    assert "slope of 1.00 TB/s that reaches the highest ceiling at 4.0 operations for each byte" in picture.alt
    assert "slow 0.5 operations for each byte, at most 2e+10" in picture.alt


@pytest.mark.parametrize("kernels", [{}, {"none": (0.0, "vector")}, {"nan": (np.nan, "vector")}])
def test_a_roofline_without_numbers_is_refused(kernels: dict[str, tuple[float, str]]) -> None:
    with pytest.raises(ArgumentError, match="numbers above zero"):
        bounds_roofline(kernels, CEILINGS, 1e12, "figures")


def test_an_unknown_ceiling_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no ceiling 'cube'"):
        bounds_roofline({"matrix": (9.0, "cube")}, CEILINGS, 1e12, "figures")


def test_each_launch_is_a_staircase_from_one_core_on() -> None:
    picture = core_balance({"4 groups": [1, 2, 2, 4], "5 groups": [1, 5 / 3, 2.5, 2.5]})
    (axis,) = picture.figure.axes
    named = {str(line.get_label()): line for line in axis.lines}
    np.testing.assert_array_equal(named["4 groups"].get_xdata(), [1, 2, 3, 4])
    np.testing.assert_array_equal(named["4 groups"].get_ydata(), [1, 2, 2, 4])
    assert "4 groups: 4 on 4 cores, 5 groups: 2.5 on 4 cores" in picture.alt
    assert "not measured" in picture.alt


@pytest.mark.parametrize("lines", [{"a": [1.0]}, {"a": [1, 2], "b": [1, 2, 3]}, {str(n): [1, 2] for n in range(5)}])
def test_staircases_that_do_not_fit_are_refused(lines: dict[str, list[float]]) -> None:
    with pytest.raises(ArgumentError, match="lines of the same length"):
        core_balance(lines)


def test_each_copy_is_a_box_at_its_place() -> None:
    copies = [("in", 0, 4), ("in", 4, 2), ("in", 0, 4), ("out", 0, 4), ("in", 4, 2), ("out", 4, 2)]
    picture = copy_order(copies, [0, 6])
    (axis,) = picture.figure.axes
    boxes = {(round(box.get_x() + box.get_width() / 2), box.get_y(), box.get_height()) for box in axis.patches}
    assert boxes == {(place, first, count) for place, (_, first, count) in enumerate(copies)}
    assert "4 in and 2 out, over 1 group that end at element 6" in picture.alt
    assert "12 elements go in and 6 out" in picture.alt
    assert "each element is read 2 times" in picture.alt


@pytest.mark.parametrize("copies", [[], [("sideways", 0, 1)]])
def test_copies_that_are_none_are_refused(copies: list[tuple[str, int, int]]) -> None:
    with pytest.raises(ArgumentError, match="'in' or 'out'"):
        copy_order(copies, [0, 1])
