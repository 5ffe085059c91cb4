"""What tests in a browser share: a JupyterLab for the run, a Chromium for a file of tests, a tidy page for each test.

Each of them skips where playwright, JupyterLab or Chromium is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from browser_support import FLAGS, LAPTOP, Desk, Lab, chromium, chromium_page, lab_of, missing

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """``gnt lab``, with a learner who has done nothing yet."""
    if reason := missing():
        pytest.skip(reason)
    with lab_of(tmp_path_factory.mktemp("lab")) as server:
        yield server


# Of a file and not of the run: while playwright is open this thread has a running event loop, and tests of other files,
# notebooks among them, start one of their own.
@pytest.fixture(scope="module")
def browser(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Debian's Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    home = tmp_path_factory.mktemp("chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=chromium(), args=FLAGS, env={"HOME": str(home), "XDG_CONFIG_HOME": str(home)}
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module", name="chromium")
def chromium_alone() -> Iterator[Browser]:
    """Chromium for pages that need no JupyterLab."""
    from playwright.sync_api import sync_playwright

    if not chromium():
        pytest.skip(missing())
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def page_of_file(browser: Browser, lab: Lab) -> Iterator[Desk]:
    """One page for the tests of a file: loading JupyterLab takes seconds."""
    with chromium_page(browser, lab) as desk:
        yield desk


@pytest.fixture
def desk(page_of_file: Desk) -> Iterator[Desk]:
    """The page with nothing open; the test fails if anything was wrong in it."""
    page_of_file.screen(LAPTOP)
    yield page_of_file
    wrong = page_of_file.take_errors()
    page_of_file.close_all()
    assert not wrong
