"""A step's bar reaches from the time before to its own, and says what the profile says."""

from __future__ import annotations

import pytest
from picture_support import texts, two_tiles

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.ladder import ladder
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.timing.machine import load_machine
from gn_tutorial.timing.timeline import make_timeline


def slowed(name: str, **constants: float) -> Profile:
    base = two_tiles(kernel=name)
    return Profile(
        name, base.blocks, make_timeline(base.trace, base.machine.with_(**constants)), base.trace, base.tally
    )


def test_bars_times_and_words() -> None:
    steps = [
        slowed("a", queue_operation=5000.0),
        slowed("b", queue_operation=1000.0),
        slowed("c", queue_operation=2000.0),
    ]
    times = [step.microseconds for step in steps]
    assert times[0] > times[2] > times[1]
    picture = ladder(steps)
    (axis,) = picture.figure.axes
    bars = [bar for bar in axis.patches if str(bar.get_gid()).startswith("step")]
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars]
    assert ends == [pytest.approx((times[1], times[0])), pytest.approx((times[1], times[2]))]
    # Slower is another colour, another hatch and another word.
    assert bars[0].get_facecolor() != bars[1].get_facecolor()
    assert bars[0].get_hatch() != bars[1].get_hatch()
    assert f"{times[0] / times[1]:.2f} × faster" in texts(axis)[1]
    assert f"{times[2] / times[1]:.2f} × slower" in texts(axis)[2]
    diamonds = [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "D"]
    assert diamonds == [step.binding.microseconds for step in steps]
    assert axis.get_xscale() == "log"
    for step in steps:
        assert f"{step.kernel} {step.microseconds:.2f} us" in picture.alt
        assert f"limit {step.binding.name} ({step.binding.microseconds:.2f} us)" in picture.alt
    assert "modelled" in axis.get_title(loc="left")


def test_a_step_that_changes_nothing_says_so() -> None:
    assert "no change" in ladder([two_tiles(), two_tiles(kernel="same")]).alt


def test_one_step_and_two_machines_are_refused() -> None:
    with pytest.raises(ArgumentError, match="two steps"):
        ladder([two_tiles()])
    base = two_tiles()
    other = Profile("o", 2, make_timeline(base.trace, load_machine("910B1")), base.trace, base.tally)
    with pytest.raises(ArgumentError, match="one machine"):
        ladder([base, other])
