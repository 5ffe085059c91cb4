"""Operates the playground's page in Chromium as a learner does, for its tests and for the benchmark of a visit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE = 300_000  # ms; the compiler starts in ten seconds on an idle machine


def open_at(page: Page, address: str, start: str) -> None:
    """Open the page at a start, with that start's text."""
    page.goto("about:blank")
    page.goto(f"{address}#start={start}")
    wait_until_ready(page)


def wait_until_ready(page: Page) -> None:
    """Wait until the page's lists are filled."""
    page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=PATIENCE)


def write(page: Page, text: str) -> None:
    """Put another text into the editor."""
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def run(page: Page) -> str:
    """Press Run, wait for the end, and return the verdict."""
    page.click("#run")
    page.wait_for_selector("#run:not([disabled])", timeout=PATIENCE)
    return page.inner_text("#verdict")
