"""The interactive timeline of a notebook: the picture is what is stored, the widget has the same launches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from picture_support import two_tiles

from gn_tutorial.errors import ArgumentError
from gn_tutorial.plot import gantt, gantt_launches, timeline
from gn_tutorial.plot import interactive as module
from gn_tutorial.profiler.timeline_data import timeline_data
from gn_tutorial.profiler.timeline_page import timeline_page

VIEW = "application/vnd.jupyter.widget-view+json"


def test_what_is_stored_is_the_picture_of_the_same_launches() -> None:
    one, two = two_tiles(), two_tiles(3, kernel="after")
    assert repr(timeline(one)) == repr(gantt(one))
    assert repr(timeline(one, two)) == repr(gantt_launches(one, two))
    data, metadata = timeline(one)._repr_mimebundle_()
    data.pop(VIEW, None)
    assert (data, metadata) == gantt(one)._repr_mimebundle_()


def test_the_widget_holds_the_data_and_the_program() -> None:
    pytest.importorskip("anywidget")
    one, two = two_tiles(), two_tiles(3, kernel="after")
    shown = timeline(one, two)
    assert json.loads(shown.widget.data) == timeline_data(one, two)
    data, _ = shown._repr_mimebundle_()
    assert data[VIEW]["model_id"] == shown.widget.model_id
    assert "mountTimeline" in shown.widget._esm
    assert ".gnt-timeline" in shown.widget._css


def test_without_the_library_the_picture_comes_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    module._widget_class.cache_clear()
    try:
        data, _ = timeline(two_tiles())._repr_mimebundle_()
        assert set(data) == {"image/png", "text/plain"}
        assert "pip install anywidget" in capsys.readouterr().out
    finally:
        module._widget_class.cache_clear()


def test_it_saves_one_html_file_and_nothing_else(tmp_path: Path) -> None:
    one = two_tiles()
    timeline(one).save(tmp_path / "t.html")
    assert (tmp_path / "t.html").read_text(encoding="utf-8") == timeline_page(one)
    with pytest.raises(ArgumentError, match=r"\.html"):
        timeline(one).save(tmp_path / "t.png")
    with pytest.raises(ArgumentError, match="no launch"):
        timeline()
