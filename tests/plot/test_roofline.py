"""Bounds and rooflines carry the numbers of the profile."""

from __future__ import annotations

import numpy as np
import pytest
from picture_support import B3, texts, two_tiles
from timing_support import load, trace

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.roofline import intensity, launch_roofline, limits, vector_peak
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.timing.machine import load_machine
from gn_tutorial.timing.timeline import make_timeline


def test_a_bar_for_the_time_and_each_bound_the_binding_one_first() -> None:
    profile = two_tiles()
    picture = limits(profile)
    (axis,) = picture.figure.axes
    bounds = [limit for limit in profile.limits if limit.amount]
    assert [bar.get_width() for bar in axis.patches] == [profile.microseconds, *(one.microseconds for one in bounds)]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["modelled time", *(one.name for one in bounds)]
    assert texts(axis)[1].endswith("the binding limit")
    assert f"{profile.distance:.2f} times the binding limit, {profile.binding.name}" in picture.alt
    assert "modelled" in axis.get_xlabel()


def test_a_point_lies_at_its_intensity_and_rate_under_the_roof() -> None:
    profile = two_tiles()
    picture = launch_roofline(profile)
    (axis,) = picture.figure.axes
    elements, moved = 4 * 1024, 4 * 4096  # four tiles of floats, each read from HBM once
    assert intensity(profile) == elements / moved
    (point,) = [line for line in axis.lines if str(line.get_label()).startswith("by hand")]
    assert point.get_xdata()[0] == elements / moved
    assert point.get_ydata()[0] == pytest.approx(elements / profile.microseconds / 1e3)
    roof = next(line for line in axis.lines if line.get_gid() == "roof")
    np.testing.assert_allclose(roof.get_ydata(), np.minimum(np.array(roof.get_xdata()) * 1490, 40 * 1.8 * 64))
    allowed = elements / moved * 1490
    assert f"{allowed / point.get_ydata()[0]:.1f} times below the roof" in picture.alt
    assert axis.get_title(loc="left").startswith("Roofline, modelled")


def test_the_roof_of_half_floats_is_twice_as_high() -> None:
    assert vector_peak(B3, 4) == 40 * 1800 * 64
    assert vector_peak(B3, 2) == 2 * vector_peak(B3, 4)


def test_what_has_no_place_on_a_roofline_is_refused() -> None:
    made = trace(load(512))
    copy = Profile("copy", 1, make_timeline(made, B3), made, two_tiles().tally)
    with pytest.raises(ArgumentError, match="copy executes no vector instruction"):
        launch_roofline(copy)
    profile = two_tiles()
    other = Profile("o", 2, make_timeline(profile.trace, load_machine("910B1")), profile.trace, profile.tally)
    with pytest.raises(ArgumentError, match="one machine"):
        launch_roofline(profile, other)
    warm = Profile("w", 2, make_timeline(profile.trace, B3, warm=True), profile.trace, profile.tally)
    with pytest.raises(ArgumentError, match="w moves no byte of HBM"):
        launch_roofline(warm)
    with pytest.raises(ArgumentError, match="0 launches"):
        launch_roofline()
