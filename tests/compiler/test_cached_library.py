"""A library that an object keeps, while other builds evict entries that seem unused."""

import os
import time
from pathlib import Path

import pytest

from gn_tutorial.compiler.cache import Cache
from gn_tutorial.compiler.cache_store import GRACE_SECONDS, checksum
from gn_tutorial.compiler.cached_library import Kept


class Builder:
    """Makes one entry of a small cache, and counts how often."""

    def __init__(self, cache: Cache) -> None:
        self.cache, self.built = cache, 0

    def __call__(self) -> Path:
        return self.cache.get_or_make(checksum(b"held"), ".so", self._make)

    def _make(self, path: Path) -> None:
        self.built += 1
        path.write_bytes(b"library")


@pytest.fixture
def builder(tmp_path: Path) -> Builder:
    return Builder(Cache(tmp_path / "cache", limit_bytes=1))


def pass_time(path: Path) -> None:
    os.utime(path.with_name(path.name + ".seal"), (time.time() - 2 * GRACE_SECONDS,) * 2)


def build_something_else(cache: Cache) -> None:
    def make(path: Path) -> None:
        path.write_bytes(b"other")

    cache.get_or_make(checksum(b"other"), ".so", make)


def test_built_once(builder: Builder) -> None:
    kept = Kept(builder)
    assert builder.built == 0
    assert kept.path() == kept.path()
    assert builder.built == 1


def test_what_was_evicted_is_built_again(builder: Builder) -> None:
    kept = Kept(builder)
    pass_time(kept.path())
    build_something_else(builder.cache)
    assert kept.path().read_bytes() == b"library"
    assert builder.built == 2


def test_a_use_keeps_it_from_eviction(builder: Builder) -> None:
    kept = Kept(builder)
    pass_time(kept.path())
    kept.path()
    build_something_else(builder.cache)
    kept.path()
    assert builder.built == 1


def test_a_shared_base_is_only_read(builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNT_CACHE_BASE", str(builder.cache.root))
    kept = Kept(builder)
    seal = kept.path().with_name(kept.path().name + ".seal")
    pass_time(kept.path())
    before = seal.stat().st_mtime_ns
    kept.path()
    assert seal.stat().st_mtime_ns == before
