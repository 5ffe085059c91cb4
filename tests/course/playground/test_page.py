"""The page in Chromium as a learner uses it: edit, run, finding, numbers, timeline, stop, the link, offline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser_support import FLAGS, chromium
from playground_support import Server, missing
from playground_visitor import PATIENCE, open_at, run, wait_until_ready, write

from gn_tutorial.course.puzzles.bank import load

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.skipif(not find_spec("playwright") or not chromium(), reason="playwright or Chromium is missing"),
]


@pytest.fixture(scope="module")
def page(server: Server) -> Iterator[Page]:
    from playwright.sync_api import sync_playwright

    wrong: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        found = browser.new_page()
        found.on("pageerror", lambda error: wrong.append(str(error)))
        found.on("request", lambda request: "127.0.0.1" in request.url or wrong.append(f"asked for {request.url}"))
        yield found
        browser.close()
    assert wrong == []


def test_a_kernel_runs_with_numbers_counts_and_a_timeline(page: Page, server: Server) -> None:
    open_at(page, server.address, "add/queue")
    assert run(page) == "ran to its end, nothing found"
    assert "z: all 4096 right" in page.inner_text("#numbers")
    assert "4 copies out" in page.inner_text("#tally")
    assert re.search(r"modelled time on 910B2: \d+\.\d\d us", page.inner_text("#modelled"))
    assert page.locator("#timeline canvas, #timeline svg").count() >= 1


def test_wrong_numbers_name_the_first_wrong_element(page: Page, server: Server) -> None:
    open_at(page, server.address, "add/queue")
    text = (Path(__file__).parents[3] / "kernels" / "add" / "add.cpp").read_text(encoding="utf-8")
    assert "AscendC::Add(" in text
    write(page, text.replace("AscendC::Add(", "AscendC::Sub(", 1))
    assert run(page) == "wrong numbers"
    assert "wrong; first z[0] is" in page.inner_text("#numbers")


def test_a_finding_stands_at_its_line_and_its_mend_is_told(page: Page, server: Server) -> None:
    open_at(page, server.address, "queue/empty_bad")
    wrong = page.inner_text(".cm-content")
    assert run(page) == "1 mistake found"
    assert "queue-empty: DeQue on queue" in page.inner_text("#findings")
    page.hover(".cm-lint-marker-error")
    assert "nothing is enqueued" in page.inner_text(".cm-tooltip-lint")
    link = page.get_attribute("#findings a", "href")
    assert "queue-empty" in page.request.get(server.address + link).text()
    write(page, wrong.replace("queue.HasTensorInQue();", "queue.EnQue(a);"))
    assert run(page) == "right: queue-empty is gone"


def test_a_rule_that_reads_the_syntax_tree_finds_its_mistake(page: Page, server: Server) -> None:
    open_at(page, server.address, "language/typeid_bad")
    assert run(page) == "1 mistake found"
    assert "language-typeid: " in page.inner_text("#findings")


def test_the_page_of_a_finding_opens_its_wrong_program(page: Page, server: Server) -> None:
    page.goto(f"{server.address}diagnostics/queue-empty.html")
    page.click("text=Try it in the browser >> nth=0")
    wait_until_ready(page)
    assert "queue_empty_bad" in page.inner_text(".cm-content")


def test_a_puzzle_opens_at_its_lines_and_is_solved_or_not(page: Page, server: Server) -> None:
    puzzle = load()["06.once"]
    open_at(page, server.address, "puzzle/06.once")
    assert puzzle.task.split()[0] in page.inner_text(".cm-content")
    assert run(page) == "not attempted yet: write your lines below the task"
    refused = next(one for one in puzzle.wrong if one.right)
    for lines, verdict in ((refused.lines, "not right yet"), (puzzle.solution, "right: the puzzle is solved")):
        page.click("#reset")
        page.wait_for_selector("#verdict:empty", state="attached")
        page.keyboard.press("End")
        page.keyboard.insert_text(f"\n{lines}")
        assert run(page) == verdict
        assert page.inner_text("#findings") == (refused.say if lines == refused.lines else "")


def test_an_error_of_the_compiler_stands_at_its_line(page: Page, server: Server) -> None:
    open_at(page, server.address, "queue/empty_ok")
    write(page, page.inner_text(".cm-content").replace("TPipe pipe;", "TPip pipe;"))
    assert run(page) == "does not compile"
    assert "TPip" in page.inner_text("#findings .finding")


def test_a_kernel_without_end_is_stopped_and_the_page_lives(page: Page, server: Server) -> None:
    open_at(page, server.address, "queue/empty_ok")
    text = page.inner_text(".cm-content")
    write(page, text.replace("TPipe pipe;", "TPipe pipe;\n  for (volatile int i = 0; i < 1;) {\n  }"))
    page.click("#run")
    page.wait_for_selector("#status:text-is('running')", timeout=PATIENCE)
    page.click("#stop")
    page.wait_for_selector("#run:not([disabled])", timeout=PATIENCE)
    assert page.inner_text("#status") == "stopped"
    write(page, text)
    assert run(page) == "ran to its end, nothing found"


def test_the_address_holds_the_text_and_the_next_visit_needs_no_server(page: Page, folder: Path) -> None:
    own = Server(folder)
    open_at(page, own.address, "queue/empty_ok")
    write(page, page.inner_text(".cm-content").replace("TPipe pipe;", "TPipe pipe;  // mine"))
    assert run(page) == "ran to its end, nothing found"
    page.click("#link")
    page.wait_for_selector("#status:text-is('the address of this page now holds the text')", timeout=PATIENCE)
    address = page.url
    page.goto("about:blank")
    page.goto(address)  # by now the service worker has the page
    wait_until_ready(page)
    assert run(page) == "ran to its end, nothing found"
    own.close()
    page.goto("about:blank")
    page.goto(address)
    wait_until_ready(page)
    assert "// mine" in page.inner_text(".cm-content")
    assert run(page) == "ran to its end, nothing found"
