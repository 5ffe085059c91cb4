"""One process with the page's compiler for all tests of this folder."""

from collections.abc import Iterator

import pytest
from playground_support import Page, missing


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if missing():
        pytest.skip(missing())
    with Page(tmp_path_factory.mktemp("page")) as page:
        yield page
