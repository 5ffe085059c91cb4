"""The interactive timeline in JupyterLab: zoomed by the wheel, read at a box, seen at two widths and in two themes."""

import re

import pytest
from browser_support import LAPTOP, NARROW, Desk, Notebook

SOURCE = """\
import numpy as np
import gn_tutorial as gnt
x = np.arange(9000, dtype=np.float32)
profile = gnt.profile(gnt.kernel("copy"), x, blocks=1)
gnt.plot.timeline(profile)"""


def shown(notebook: Notebook) -> tuple[float, float]:
    """From and to, in microseconds."""
    words = notebook.panel.locator(".gnt-timeline-range").inner_text()
    start, end = (float(one) for one in re.findall(r"[\d.]+", words)[:2])
    return start, end


@pytest.mark.thorough
def test_timeline_is_zoomed_and_pointed_at(desk: Desk) -> None:
    notebook = desk.open(desk.lab.write_notebook("timeline.ipynb", [(SOURCE, [])]))
    notebook.run(0)
    canvas = notebook.panel.locator(".gnt-timeline canvas").first
    canvas.wait_for()
    canvas.scroll_into_view_if_needed()
    start, end = shown(notebook)
    assert start == 0
    box = canvas.bounding_box()
    assert box
    desk.page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2)
    # Until it is clicked the wheel is the notebook's.
    desk.page.mouse.wheel(0, 1)
    desk.page.wait_for_timeout(100)  # drawn with the next frame
    assert shown(notebook) == (start, end)
    desk.page.mouse.down()
    desk.page.mouse.up()
    desk.page.mouse.wheel(0, -300)
    desk.page.wait_for_timeout(100)
    nearer = shown(notebook)
    assert start < nearer[0] < nearer[1] < end
    complaints = []
    for screen in (LAPTOP, NARROW):
        desk.screen(screen)
        for _ in desk.themes():
            complaints += notebook.looks()["complaints"]
            pane, drawn = notebook.output(0).bounding_box(), canvas.bounding_box()
            assert pane
            assert drawn
            assert drawn["x"] + drawn["width"] <= pane["x"] + pane["width"] + 1
    assert complaints == []
