"""The small chart of a notebook: valid XML, boxes in proportion, a text for those who do not see it."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from picture_support import two_tiles
from timing_support import trace, vector

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.profiler.svg import svg_gantt
from gn_tutorial.timing.timeline import make_timeline


def test_boxes_lie_where_the_spans_do_and_say_what_they_are() -> None:
    profile = two_tiles()
    root = ElementTree.fromstring(svg_gantt(profile.timeline))
    colour = "#0072B2"
    drawn = [one for one in root.iter("rect") if one.get("fill") == colour]
    spans = list(profile.timeline.of(0, Pipe.MTE2))
    scale = (640 - 48) / profile.timeline.block_cycles[0]
    for box, span in zip(drawn, spans, strict=True):
        assert float(box.get("x", 0)) == pytest.approx(48 + span.start * scale, abs=0.006)
        assert float(box.get("width", 0)) == pytest.approx(span.cycles * scale, abs=0.006)
        tip = box.find("title")
        assert tip is not None
        assert tip.text is not None
        assert tip.text.startswith(f"DataCopy, k.cpp:{span.line}, ")
    assert "modelled" in root.get("aria-label", "")
    assert root.get("role") == "img"


def test_a_long_launch_stays_small() -> None:
    made = trace(*(vector("Adds", 1, 0, 256) for _ in range(20_000)))
    assert len(svg_gantt(make_timeline(made, two_tiles().machine))) < 50_000


def test_jupyter_shows_it_below_the_table() -> None:
    shown = two_tiles()._repr_html_()
    assert shown.index("</table>") < shown.index("<svg")
    assert shown == two_tiles()._repr_html_()


def test_what_s_is_called_busy_for_is_drawn() -> None:
    """Its own boxes and, half as high, its issues: together as long as the words say."""
    profile = two_tiles()
    root = ElementTree.fromstring(svg_gantt(profile.timeline))
    mine = [one for one in root.iter("rect") if one.get("fill") == "#555555"]
    assert {one.get("height") for one in mine} == {"16", "8"}
    scale = (640 - 48) / profile.timeline.block_cycles[0]
    drawn = sum(float(one.get("width", 0)) for one in mine)
    assert drawn == pytest.approx(profile.timeline.busy[0][Pipe.S] * scale, rel=0.01)
