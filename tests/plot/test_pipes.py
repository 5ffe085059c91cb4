"""What the pictures of a profile share."""

from __future__ import annotations

from itertools import pairwise

import pytest
from matplotlib.colors import to_hex
from picture_support import two_tiles

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.machine import vector_core
from gn_tutorial.plot.pipes import of_all, pipe_legend, plain_ticks, recorded_block
from gn_tutorial.profiler.palette import LOOKS, PIPE_COLOURS
from gn_tutorial.profiler.svg import svg_gantt


def test_colours_differ_in_lightness_too() -> None:
    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    # Without colour, the plain ones are told apart by lightness, and the hatched ones by where their lines lean.
    assert LOOKS[Pipe.MTE2].hatch != LOOKS[Pipe.MTE3].hatch
    shades = sorted(lightness(look.colour) for look in LOOKS.values() if not look.hatch)
    assert min(b - a for a, b in pairwise(shades)) > 50
    assert len({look.colour for look in LOOKS.values()}) == len(LOOKS)


def test_a_pipe_has_one_colour_in_every_picture() -> None:
    """The drawing of a core, the small chart of a notebook and the pictures of a profile agree."""
    assert {pipe: look.colour for pipe, look in LOOKS.items()} == PIPE_COLOURS
    core = vector_core().figure.axes[0]
    boxes = {box.get_label(): to_hex(box.get_facecolor(), keep_alpha=False) for box in core.patches}
    assert {name: boxes.get(name) for name in ("MTE2", "MTE3", "V")} == {
        pipe.name: PIPE_COLOURS[pipe].lower() for pipe in (Pipe.MTE2, Pipe.MTE3, Pipe.V)
    }
    chart = svg_gantt(two_tiles(3).timeline)
    assert {colour for colour in PIPE_COLOURS.values() if f'fill="{colour}"' in chart} == set(PIPE_COLOURS.values())


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
