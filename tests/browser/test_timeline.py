"""The interactive timeline in a real browser: zoom, move, point, keys, themes, widths, very many instructions."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from picture_support import B3, two_tiles
from thoroughness import some
from timing_support import trace, vector

from gn_tutorial.abi.trace import Pipe
from gn_tutorial.profiler.palette import PIPE_COLOURS
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.profiler.timeline_data import timeline_data
from gn_tutorial.profiler.timeline_page import front, save_timeline
from gn_tutorial.timing.timeline import make_timeline

pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")

# Of timeline.js: where the lanes begin, and how high they are, in pixels.
LABEL, LANE = 52, 44


@pytest.fixture
def show(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens the file of these launches; the test fails if the page has an error or asks another host."""
    wrong: list[str] = []
    pages = []

    def listen(page: Any) -> Any:
        pages.append(page)
        page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda asked: wrong.append(asked.url) if asked.url.startswith("http") else None)
        return page

    def open_page(*profiles: Profile, width: int = 1400, theme: str = "light") -> Any:
        save_timeline(tmp_path / "t.html", *profiles)
        page = listen(chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=theme))
        page.goto((tmp_path / "t.html").as_uri())
        # Not wait_for_function: the page's own policy forbids eval.
        page.locator(".gnt-timeline-range", has_text="us of").wait_for()
        return page

    yield open_page
    for page in pages:
        page.close()
    assert wrong == []


def shown(page: Any) -> tuple[float, float, float]:
    """From, to, and the whole time, in us; after the next frame."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    words = page.locator(".gnt-timeline-range").inner_text()
    start, end, whole = (float(one) for one in re.findall(r"[\d.]+", words))
    return start, end, whole


def box_of(page: Any, row: int = 0) -> dict[str, float]:
    return page.locator("canvas").nth(row).bounding_box()


def point(page: Any, profile: Profile, pipe: Pipe, time: float, row: int = 0) -> None:
    """Move the pointer to a time of a pipe, as far as the whole time is shown."""
    box, lane = box_of(page, row), list(PIPE_COLOURS).index(pipe)
    # The axis goes a hundredth beyond the end.
    page.mouse.move(
        box["x"] + LABEL + time * (box["width"] - LABEL) / (shown(page)[2] * 1.01), box["y"] + LANE * lane + 8
    )


def us(profile: Profile, cycles: float) -> float:
    return profile.machine.microseconds(cycles)


COUNT_COLOURS = """
(canvas) => {
  const {data, width, height} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const found = {};
  for (let at = 0; at < data.length; at += 4) {
    const name = "#" + [0, 1, 2].map((part) => data[at + part].toString(16).padStart(2, "0")).join("").toUpperCase();
    found[name] = (found[name] ?? 0) + 1;
  }
  return found;
}
"""


@pytest.mark.parametrize(("width", "theme"), some([*itertools.product([800, 1400], ["light", "dark"])], 2))
def test_every_pipe_has_its_colour_at_each_width_and_theme(show: Callable[..., Any], width: int, theme: str) -> None:
    profile = two_tiles()
    page = show(profile, two_tiles(3, kernel="another"), width=width, theme=theme)
    _, _, whole = shown(page)
    pixels = (box_of(page)["width"] - LABEL) / (whole * 1.01)
    found = page.locator("canvas").first.evaluate(COUNT_COLOURS)
    for pipe, colour in PIPE_COLOURS.items():
        time = us(profile, sum(span.cycles for span in profile.timeline.of(0, pipe)))
        # Its seams, its words and what it waits for take some of the box.
        assert found[colour.upper()] > 0.4 * time * pixels * 40, (pipe, colour)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the window"
    legend = page.locator(".gnt-timeline-legend").inner_text()
    assert all(f"{pipe.name}:" in legend for pipe in PIPE_COLOURS)
    paper, ink = page.locator(".gnt-timeline").evaluate(
        "(one) => [getComputedStyle(one).backgroundColor, getComputedStyle(one).color]"
    )
    light, dark = (ink, paper) if theme == "dark" else (paper, ink)
    assert _grey(light) > 220
    assert _grey(dark) < 45


def _grey(colour: str) -> float:
    return sum(float(one) for one in re.findall(r"[\d.]+", colour)[:3]) / 3


def test_wheel_drag_buttons_and_double_click(show: Callable[..., Any]) -> None:
    page = show(two_tiles())
    assert shown(page)[0] == 0
    box = box_of(page)
    x, y = box["x"] + LABEL + (box["width"] - LABEL) * 0.25, box["y"] + 60
    page.mouse.move(x, y)
    page.mouse.wheel(0, -100)
    start, end, whole = shown(page)
    assert end - start == pytest.approx(whole * 1.01 / 1.3, rel=0.01)
    # The time at the pointer stays where it is.
    assert start + (end - start) * 0.25 == pytest.approx(whole * 1.01 * 0.25, abs=0.003)
    page.mouse.down()
    page.mouse.move(x - 100, y, steps=4)
    page.mouse.up()
    moved, _, _ = shown(page)
    assert moved - start == pytest.approx(100 / (box["width"] - LABEL) * (end - start), abs=0.003)
    page.mouse.dblclick(x, y)
    assert shown(page) == (0, whole, whole)
    page.get_by_label("zoom in").click()
    start, end, _ = shown(page)
    assert end - start < 0.7 * whole
    page.get_by_label("zoom out").click()
    page.get_by_label("zoom in").click()
    page.get_by_label("show the whole time").click()
    assert shown(page) == (0, whole, whole)


@pytest.mark.thorough
def test_it_cannot_be_moved_past_its_ends_nor_zoomed_below_a_few_cycles(show: Callable[..., Any]) -> None:
    page = show(two_tiles())
    page.locator("canvas").focus()
    for _ in range(60):
        page.keyboard.press("+")
    start, end, whole = shown(page)
    assert end - start == pytest.approx(0.002, abs=0.0011)
    for key, bound in (("ArrowLeft", 0.0), ("ArrowRight", whole)):
        for _ in range(3):
            page.get_by_label("show the whole time").click()
            page.locator("canvas").focus()
            page.keyboard.press("+")
            for _ in range(20):
                page.keyboard.press(key)
        assert bound in shown(page)[:2]


def test_keys(show: Callable[..., Any]) -> None:
    page = show(two_tiles())
    page.locator("canvas").focus()
    page.keyboard.press("+")
    start, end, whole = shown(page)
    assert end - start == pytest.approx(whole * 1.01 / 1.3, rel=0.01)
    page.keyboard.press("ArrowRight")
    assert shown(page)[0] == pytest.approx(start + (end - start) / 8, abs=0.003)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("-")
    assert shown(page) == (0, whole, whole)
    page.keyboard.press("+")
    page.keyboard.press("Home")
    assert shown(page) == (0, whole, whole)


def test_pointing_at_a_box_says_what_where_and_why(show: Callable[..., Any], tmp_path: Path) -> None:
    profile = two_tiles()
    page = show(profile)
    first = next(profile.timeline.of(0, Pipe.V))
    point(page, profile, Pipe.V, us(profile, (first.start + first.end) / 2))
    said = page.locator(".gnt-timeline-said").inner_text()
    assert f"V: Muls {us(profile, first.start):.3f} to {us(profile, first.end):.3f} us" in said
    assert "k.cpp:15" in said
    assert f"V waited {us(profile, first.waited):.3f} us for MTE2 (k.cpp:11)" in said
    copy = next(profile.timeline.of(0, Pipe.MTE2))
    point(page, profile, Pipe.MTE2, us(profile, (copy.start + copy.end) / 2))
    said = page.locator(".gnt-timeline-said").inner_text()
    assert "MTE2: DataCopy" in said
    assert "4,096 bytes" in said
    assert f"{us(profile, copy.done - copy.end):.3f} us later" in said


def test_the_keyboard_reaches_every_instruction_and_says_the_same(show: Callable[..., Any]) -> None:
    profile = two_tiles()
    page = show(profile)
    for _ in range(5):  # three buttons and the choice of a block stand before it
        page.keyboard.press("Tab")
    said = page.locator(".gnt-timeline-said")
    first, second = profile.timeline.of(0, Pipe.V)
    assert f"V: Muls {us(profile, first.start):.3f} to" in said.inner_text()
    page.keyboard.press("Shift+ArrowRight")
    assert f"V: Muls {us(profile, second.start):.3f} to" in said.inner_text()
    page.keyboard.press("ArrowUp")
    assert "MTE2: DataCopy" in said.inner_text()
    # What is out of sight comes into sight.
    for _ in range(12):
        page.keyboard.press("+")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    store = next(profile.timeline.of(0, Pipe.MTE3))
    assert f"MTE3: DataCopy {us(profile, store.start):.3f} to" in said.inner_text()
    start, end, _ = shown(page)
    seen = min(end, us(profile, store.end)) - max(start, us(profile, store.start))
    assert seen >= min(us(profile, store.cycles), 0.05 * (end - start)) - 0.002
    page.keyboard.press("Escape")
    assert "Point at a box" in said.inner_text()
    assert said.get_attribute("role") == "status"


@pytest.mark.thorough
def test_the_scalar_units_issues_can_be_pointed_at(show: Callable[..., Any]) -> None:
    profile = two_tiles()
    page = show(profile)
    first = next(profile.timeline.issues_of(0))
    point(page, profile, Pipe.S, us(profile, (first.start + first.end) / 2))
    assert f"S issues {first.op}" in page.locator(".gnt-timeline-said").inner_text()


@pytest.mark.thorough
def test_two_launches_have_one_axis_and_each_its_blocks(show: Callable[..., Any]) -> None:
    one, two = two_tiles(kernel="before"), two_tiles(3, kernel="after")
    page = show(one, two)
    assert page.locator(".gnt-timeline-name").all_inner_texts() == ["before", "after"]
    assert [page.locator("select").nth(row).locator("option").count() for row in range(2)] == [2, 3]
    whole = max(us(each, each.timeline.of(block).__next__().start + each.timeline.block_cycles[block])
                for each in (one, two) for block in each.timeline.block_cycles)  # fmt: skip
    assert shown(page)[2] == pytest.approx(whole, abs=0.01)
    for row, profile in enumerate((one, two)):
        block = max(profile.timeline.block_cycles, key=profile.timeline.block_cycles.__getitem__)
        span = next(profile.timeline.of(block, Pipe.MTE3))
        point(page, profile, Pipe.MTE3, us(profile, (span.start + span.end) / 2), row)
        assert f"{us(profile, span.start):.3f} to" in page.locator(".gnt-timeline-said").inner_text()
    # Zooming one zooms both.
    page.mouse.wheel(0, -300)
    start, end, _ = shown(page)
    assert end - start < 0.5 * whole
    page.locator("select").nth(1).select_option(index=2)
    assert "after, block 2" in page.locator("canvas").nth(1).get_attribute("aria-label")


@pytest.mark.thorough
def test_a_great_many_instructions_cost_as_much_as_pixels(show: Callable[..., Any]) -> None:
    """The strokes of a frame grow with the width and not with the number of instructions."""
    count = 100_000
    made = trace(*(vector("Adds", 1, 0, 256, line=index % 7 + 1) for index in range(count)))
    profile = Profile("many", 1, make_timeline(made, B3), made, two_tiles().tally)
    page = show(profile)
    page.evaluate("""() => {
      window.strokes = 0;
      for (const name of ["fillRect", "strokeRect", "fillText"]) {
        const real = CanvasRenderingContext2D.prototype[name];
        CanvasRenderingContext2D.prototype[name] = function (...all) {
          window.strokes += 1;
          return real.apply(this, all);
        };
      }
    }""")
    page.locator("canvas").focus()
    page.keyboard.press("+")
    shown(page)
    assert 100 < page.evaluate("window.strokes") < 4 * 1400
    for _ in range(34):
        page.keyboard.press("+")
    shown(page)
    box = box_of(page)
    page.mouse.move(box["x"] + LABEL + 300, box["y"] + 2 * LANE + 8)
    assert re.search(r"V: Adds .*k.cpp:[1-7]", page.locator(".gnt-timeline-said").inner_text(), re.DOTALL)


WIDGET = """
async ([source, data]) => {
  const module = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
  const el = document.getElementById("cell");
  window.leave = module.default.render({el, model: {get: (name) => ({data})[name]}});
}
"""


def test_as_a_widget_it_takes_jupyterlabs_colours_and_leaves_the_wheel_alone(chromium: Any) -> None:
    program, style = front()
    # JupyterLab's theme is dark, the system's is not.
    lab = ":root { --jp-layout-color0: rgb(17, 17, 17); --jp-content-font-color1: rgba(255, 255, 255, 0.87); }"
    page = chromium.new_page(viewport={"width": 1000, "height": 600}, color_scheme="light")
    page.set_content(f"<style>{lab}{style}</style><div id='cell'></div><div style='height: 3000px'></div>")
    page.evaluate(WIDGET, [program, json.dumps(timeline_data(two_tiles()))])
    whole = shown(page)[2]
    assert page.locator(".gnt-timeline").evaluate("(one) => getComputedStyle(one).backgroundColor") == "rgb(17, 17, 17)"
    box = box_of(page)
    page.mouse.move(box["x"] + 300, box["y"] + 30)
    page.mouse.wheel(0, 100)
    page.wait_for_function("scrollY > 0")
    assert shown(page) == (0, whole, whole)
    page.evaluate("scrollTo(0, 0)")
    page.mouse.click(box["x"] + 300, box["y"] + 30)
    page.mouse.wheel(0, -100)
    assert shown(page)[1] - shown(page)[0] < whole
    page.evaluate("window.leave()")
    assert page.locator("#cell").inner_html() == ""
    page.close()


def test_data_of_another_format_are_refused(chromium: Any) -> None:
    program, _ = front()
    page = chromium.new_page()
    page.set_content("<div id='cell'></div>")
    page.evaluate(WIDGET.replace("window.leave =", ""), [program, json.dumps({"format": "gnt-timeline/9"})])
    assert "gnt-timeline/9" in page.locator("#cell").inner_text()
    page.close()


@pytest.mark.thorough
def test_two_fingers_zoom(chromium: Any, tmp_path: Path) -> None:
    save_timeline(tmp_path / "t.html", two_tiles())
    context = chromium.new_context(has_touch=True, viewport={"width": 900, "height": 600})
    page = context.new_page()
    page.goto((tmp_path / "t.html").as_uri())
    whole = shown(page)[2]
    box = box_of(page)
    touch = context.new_cdp_session(page)
    middle, y = box["x"] + LABEL + (box["width"] - LABEL) / 2, box["y"] + 60
    for kind, apart in (("touchStart", 50), ("touchMove", 75), ("touchMove", 100), ("touchEnd", 0)):
        points = [{"x": middle + side * apart, "y": y, "id": side + 1} for side in (-1, 1)] if apart else []
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    start, end, _ = shown(page)
    assert end - start == pytest.approx(whole * 1.01 / 2, rel=0.05)
    assert (start + end) / 2 == pytest.approx(whole * 1.01 / 2, rel=0.1)
    context.close()
