"""``gnt`` as the tests of commands have it."""

from tests.cli.conftest import gnt  # noqa: F401
