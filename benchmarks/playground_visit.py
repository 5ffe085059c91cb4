"""What a visit to the playground costs in headless Chromium: first Run to a finding, edit to a finding, memory.

    gnt dev playground page
    python benchmarks/playground_visit.py page [--visits 3] [--edits 4]

Each visit has a new profile, so that everything is fetched, here from this machine: no network's time is in it. The
memory is that of the browser's processes for this page (PSS), less what they have with an empty page. Needs Chromium
and Playwright (the test extra).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from contextlib import closing
from pathlib import Path

import psutil
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from browser_support import FLAGS, chromium  # noqa: E402
from playground_support import Server  # noqa: E402
from playground_visitor import open_at, run, write  # noqa: E402

#: The programs that each visit runs and edits: first a small wrong one, then a step of GroupNorm.
FIRST, LARGE = "queue/empty_bad", "group_norm/vectorised"
TEXTS = {
    FIRST: ROOT / "tests" / "programs" / "queue" / "empty_bad.cpp",
    LARGE: ROOT / "kernels" / "group_norm" / "group_norm_4_vectorised.cpp",
}


def processes() -> list[psutil.Process]:
    """Return the browser's processes."""
    return [one for one in psutil.Process().children(recursive=True) if "chrom" in one.name()]


def memory() -> float:
    """Return the bytes of all these processes; shared pages count once."""
    return sum(one.memory_full_info().pss for one in processes())


def work() -> float:
    """Return the seconds of processor time of all these processes."""
    return sum(sum(one.cpu_times()[:2]) for one in processes())


def timed(page: Page) -> tuple[float, float]:
    """Return seconds of wall time and of processor time from Run to the verdict."""
    began, worked = time.monotonic(), work()
    if not run(page):
        raise SystemExit(f"no verdict: {page.inner_text('#findings')}")
    return time.monotonic() - began, work() - worked


def edits(page: Page, start: str, count: int) -> list[tuple[float, float]]:
    """Time so many edits, each to a new text, read from its file: the editor shows only as much as fits."""
    text = TEXTS[start].read_text(encoding="utf-8")
    seen = []
    for i in range(count):
        write(page, f"{text}\n// {i}")
        seen.append(timed(page))
    return seen


def row(name: str, times: list[tuple[float, float]]) -> str:
    """Return a line with medians and the longest time."""
    wall, worked = zip(*times, strict=True)
    middle = statistics.median
    return f"{name:34} {len(times):3}   {middle(wall):5.1f} s (most {max(wall):.1f}), processor {middle(worked):.1f} s"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="that gnt dev playground made")
    parser.add_argument("--visits", type=int, default=3)
    parser.add_argument("--edits", type=int, default=4, help="in each visit, of each text")
    given = parser.parse_args()
    first, small, large, most = [], [], [], []
    with closing(Server(given.folder)) as server, sync_playwright() as playwright:
        for _ in range(given.visits):
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            page = browser.new_page()
            page.goto("about:blank")
            empty, seen = memory(), []
            open_at(page, server.address, FIRST)
            first.append(timed(page))
            seen.append(memory())
            small += edits(page, FIRST, given.edits)
            seen.append(memory())
            open_at(page, server.address, LARGE)
            run(page)  # the page was opened anew: its workers start again
            large += edits(page, LARGE, given.edits)
            most.append(max(*seen, memory()) - empty)
            browser.close()
    print(row("first Run to the first finding", first))
    print(row(f"edit to finding, {FIRST}", small))
    print(row(f"edit to verdict, {LARGE}", large))
    print(f"memory: {max(most) / 1e6:.0f} MB at most")


if __name__ == "__main__":
    main()
