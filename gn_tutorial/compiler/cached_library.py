"""Keeps a compiled library usable for an object that may live for days, as in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gn_tutorial.compiler.cache_store import still_there


class Kept:
    """A library that is built at the first use, and again at a use that finds it evicted from the cache.

    The path alone could become invalid: learners that share one cache, or a run of all tests, compile more than the
    cache holds. Then a library that was looked up ten minutes ago may be evicted although it is in use.
    """

    def __init__(self, build: Callable[[], Path]) -> None:
        """Take ``build``, which compiles the library or takes it from the cache."""
        self._build = build
        self._path: Path | None = None

    def path(self) -> Path:
        """Return the library's path in the cache. Raises what ``build`` raises."""
        if self._path is None or not still_there(self._path):
            self._path = self._build()
        return self._path
