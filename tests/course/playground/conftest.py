"""One process with the page's compiler for all tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playground_support import Page, Server, missing

from gn_tutorial.course.playground.assemble import assemble


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if missing():
        pytest.skip(missing())
    with Page(tmp_path_factory.mktemp("page")) as page:
        yield page


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The assembled page."""
    made = tmp_path_factory.mktemp("page") / "page"
    sizes = assemble(made)
    assert sizes["before Run"] <= 1_000_000
    assert sizes["first Run"] <= 40_000_000
    return made


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    found = Server(folder)
    yield found
    found.close()
