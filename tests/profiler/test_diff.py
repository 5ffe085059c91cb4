"""Two profiles side by side: numbers of both, ratios, and where they are not alike."""

from __future__ import annotations

from dataclasses import replace

import pytest
from picture_support import TILE, two_tiles

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.profiler.diff import diff
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.timing.timeline import make_timeline


def slowed(name: str, **constants: float) -> Profile:
    base = two_tiles(kernel=name)
    return Profile(
        name, base.blocks, make_timeline(base.trace, base.machine.with_(**constants)), base.trace, base.tally
    )


def test_every_row_is_of_both_profiles_and_its_ratio_second_over_first() -> None:
    one, two = two_tiles(kernel="one"), slowed("two", queue_operation=500.0)
    rows = {row.name: row for row in diff(one, two).rows}
    assert (rows["modelled time"].first, rows["modelled time"].second) == (one.microseconds, two.microseconds)
    assert rows["S busy"].ratio == two.busy[Pipe.S] / one.busy[Pipe.S] > 5
    assert rows["MTE3 busy"].ratio == 1.0
    assert (rows["bytes in"].first, rows["vector instructions"].second) == (4 * TILE, 4)
    assert rows["elements in them"].first == 4 * TILE / 4
    assert rows["scalar accesses"].ratio is None
    assert rows["bytes of HBM"].first == 4 * TILE
    assert diff(one, two).limits == (one.binding.name, "scalar unit")


def test_the_table_and_the_verdict() -> None:
    one, two = two_tiles(kernel="one"), slowed("two", queue_operation=500.0)
    found = diff(one, two)
    text = repr(found)
    times = two.microseconds / one.microseconds
    assert text.startswith(f"modelled on Ascend 910B3: one is {times:.2f} times as fast as two\n")
    assert "binding limit" in text
    assert "note: modelled, not measured on a device" in text
    cells = {row[0]: row[1:] for row in found.cells()}
    assert cells["modelled time"] == (f"{one.microseconds:.2f} us", f"{two.microseconds:.2f} us", f"{times:.3g}")
    # Equal numbers have no ratio to read.
    assert cells["bytes in"] == ("16,384 bytes", "16,384 bytes", "")
    assert "<table" in found._repr_html_()


def test_equals_are_said_to_be_equal() -> None:
    assert "takes as long as" in diff(two_tiles(), two_tiles(kernel="same")).verdict()


def test_launches_that_are_not_alike_are_noted() -> None:
    one, three = two_tiles(2), two_tiles(3)
    assert "not the same problem: the sizes of x, y differ" in diff(one, three).notes
    other = replace(one, timeline=make_timeline(one.trace, replace(one.machine, name="another")))
    assert "not the same machine: Ascend 910B3 and another" in diff(one, other).notes
    assert diff(one, one).notes == one.notes


@pytest.mark.parametrize("name", ["first", "second"])
def test_both_profiles_stay_at_hand(name: str) -> None:
    profiles = {"first": two_tiles(2), "second": two_tiles(3)}
    assert getattr(diff(**profiles), name) is profiles[name]
