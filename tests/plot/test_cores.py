"""Time against cores: the profiles' times, the ideal that follows from the first, and the floor."""

from __future__ import annotations

import numpy as np
import pytest
from picture_support import two_tiles

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.cores import time_against_cores


def test_lines_are_the_times_the_ideal_and_the_floor() -> None:
    profiles = [two_tiles(blocks) for blocks in (4, 1, 2)]
    picture = time_against_cores(profiles)
    (axis,) = picture.figure.axes
    lines = {line.get_label(): line for line in axis.lines}
    ordered = [profiles[1], profiles[2], profiles[0]]
    for line in lines.values():
        np.testing.assert_array_equal(line.get_xdata(), [1, 2, 4])
    np.testing.assert_array_equal(lines["modelled time"].get_ydata(), [one.microseconds for one in ordered])
    launch = [0.31 + 0.156 * cores for cores in (1, 2, 4)]
    work = ordered[0].microseconds - launch[0]
    np.testing.assert_allclose(
        lines["if every core helped equally"].get_ydata(),
        [launch[0] + work, launch[1] + work / 2, launch[2] + work / 4],
    )
    floor = [us + one.timeline.memory_cycles / 1800 for us, one in zip(launch, ordered, strict=True)]
    np.testing.assert_allclose(lines["launch and memory alone"].get_ydata(), floor)
    assert f"1 block {ordered[0].microseconds:.2f} us" in picture.alt
    assert picture.alt.startswith("Modelled")


def test_what_is_no_series_is_refused() -> None:
    with pytest.raises(ArgumentError, match="different numbers of blocks"):
        time_against_cores([two_tiles(2), two_tiles(2)])
    with pytest.raises(ArgumentError, match="one kernel"):
        time_against_cores([two_tiles(2), two_tiles(1, kernel="other")])
