"""What the pictures of a profile share."""

from __future__ import annotations

from itertools import pairwise

import pytest
from picture_support import two_tiles

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.pipes import LOOKS, of_all, pipe_legend, plain_ticks, recorded_block


def test_colours_differ_in_lightness_too() -> None:
    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    # Without colour, the plain ones are told apart by lightness, and the hatched ones by where their lines lean.
    assert LOOKS[Pipe.MTE2].hatch != LOOKS[Pipe.MTE3].hatch
    shades = sorted(lightness(look.colour) for look in LOOKS.values() if not look.hatch)
    assert min(b - a for a, b in pairwise(shades)) > 50
    assert len({look.colour for look in LOOKS.values()}) == len(LOOKS)


def test_the_legend_names_every_pipe_and_what_it_does() -> None:
    assert [entry.get_label() for entry in pipe_legend()] == [
        "S: scalar unit", "MTE2: GM to UB", "V: vector unit", "MTE3: UB to GM",
    ]  # fmt: skip


def test_the_slowest_recorded_block_is_drawn_unless_another_is_asked_for() -> None:
    profile = two_tiles(3)
    slowest = max(profile.timeline.block_cycles.values())
    assert profile.timeline.block_cycles[recorded_block(profile, None)] == slowest
    assert recorded_block(profile, 2) == 2
    with pytest.raises(ArgumentError, match="block 3 was not recorded") as caught:
        recorded_block(profile, 3)
    assert "0, 1, 2" in str(caught.value)


def test_a_title_says_that_it_is_modelled() -> None:
    profile = two_tiles()
    assert of_all(profile) == f"Ascend 910B3, 2 blocks: {profile.microseconds:.2f} us modelled, 0.62 us of them launch"


@pytest.mark.parametrize(("value", "text"), [(20.0, "20"), (0.5, "0.5"), (1000.0, "1000"), (30.0, ""), (8.0, "")])
def test_ticks_are_plain_numbers(value: float, text: str) -> None:
    assert plain_ticks(value, 0) == text
