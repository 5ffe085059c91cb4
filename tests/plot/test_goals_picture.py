"""The bars of the objectives: as long as the shares are, every objective once, under its topic."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_hex

import gn_tutorial.plot as plot
from gn_tutorial.profiler.palette import CHOSEN, FASTER
from tests.plot.test_every_picture import report


def test_a_bar_for_each_objective_as_long_as_its_share() -> None:
    made = report()
    picture = plot.goals(made)
    (axis,) = picture.figure.axes
    names = dict(zip(axis.get_yticks(), (label.get_text() for label in axis.get_yticklabels()), strict=True))
    filled = [bar for bar in axis.patches if to_hex(bar.get_facecolor()) != "#ffffff"]
    drawn = {names[round(bar.get_y() + bar.get_height() / 2)]: bar for bar in filled}
    assert {name: bar.get_width() for name, bar in drawn.items()} == {
        one.goal.title: pytest.approx(one.share) for one in made.standings
    }
    proposed = {one.standing.goal.title for one in made.proposals}
    colours = {name: to_hex(bar.get_facecolor()).upper() for name, bar in drawn.items()}
    assert {name for name, colour in colours.items() if colour == CHOSEN.upper()} == proposed
    assert {colour for name, colour in colours.items() if name not in proposed} == {FASTER.upper()}


def test_its_text_says_the_same() -> None:
    made = report()
    said = plot.goals(made).alt
    assert made.reached() in said
    assert all(f"{one.goal.title} {one.share:.0%}" in said for one in made.standings)
    assert said.index("Mathematics: GroupNorm as a formula") < said.index("PyTorch: An operator in PyTorch")
