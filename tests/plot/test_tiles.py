"""The stairs over the tile size carry the numbers of their launches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.axes import Axes
from picture_support import TILE, two_tiles

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot.tiles import tile_stairs
from gn_tutorial.profiler.profile import Profile


def launches() -> dict[int, Profile]:
    """Larger tiles last; their copies differ, so that no line can stand for another one."""
    made = {}
    for tile, blocks, copies in ((256, 1, 40), (1024, 2, 10), (512, 3, 20)):
        profile = two_tiles(blocks)
        tally = replace(profile.tally, mte2=copies, mte3=copies // 2, bytes_in=12 * 1000)
        made[tile] = Profile(profile.kernel, profile.blocks, profile.timeline, profile.trace, tally)
    return made


def line(axis: Axes, name: str) -> list[tuple[float, float]]:
    (found,) = [one for one in axis.lines if one.get_gid() == name]
    return [(float(x), float(y)) for x, y in zip(found.get_xdata(), found.get_ydata(), strict=True)]


def test_each_panel_has_its_numbers_in_the_order_of_the_tiles() -> None:
    found = launches()
    picture = tile_stairs(found, elements=1000)
    copies, traffic, time = picture.figure.axes
    assert line(copies, "copies in") == [(256, 40), (512, 20), (1024, 10)]
    assert line(copies, "copies out") == [(256, 20), (512, 10), (1024, 5)]
    assert [y for _, y in line(traffic, "asked for by the copies")] == [12.0] * 3
    # two_tiles reads two tiles a block, each in whole lines of 512 bytes
    assert line(traffic, "handed out in whole lines") == [
        (tile, blocks * 2 * TILE / 1000) for tile, blocks in ((256, 1), (512, 3), (1024, 2))
    ]
    assert line(time, "modelled time") == [(tile, found[tile].microseconds) for tile in (256, 512, 1024)]
    assert "modelled" in time.get_ylabel()
    assert picture.alt.startswith("Modelled")
    assert f"A tile of 256: 40 copies in and 20 out, 12.00 bytes asked for and {2 * TILE / 1000:.2f}" in picture.alt
    assert f"{found[1024].microseconds:.2f} us" in picture.alt


def test_the_chosen_tile_is_marked_in_every_panel() -> None:
    axes = tile_stairs(launches(), elements=1000, chosen=512).figure.axes
    for axis in axes:
        assert [one.get_xdata()[0] for one in axis.lines if one.get_gid() is None] == [512]
    assert "512" in axes[-1].get_xlabel()
    assert not [one for one in tile_stairs(launches(), elements=1000).figure.axes[0].lines if one.get_gid() is None]


def test_one_tile_size_makes_no_stairs() -> None:
    with pytest.raises(ArgumentError, match="two tile sizes or more, not 1"):
        tile_stairs({256: two_tiles()}, elements=1000)
