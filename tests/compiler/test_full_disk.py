"""A compilation on a disk that fills up: it says so, and nothing half-written stays."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gn_tutorial.compiler.build import build_host_library
from gn_tutorial.compiler.cache import Cache
from gn_tutorial.errors import CacheError

# Two megabytes of data: more than the disk has room for, however the compiler writes it.
LARGE = 'extern "C" const char large[1 << 21] = {1};\nextern "C" const char* get() { return large; }\n'


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of its own, of 256 KiB."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(tmp_path)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "locks"]


def test_a_full_disk_is_named_and_leaves_nothing(small_disk: Path) -> None:
    cache = Cache(small_disk / "cache")
    with pytest.raises(CacheError, match="the disk is full") as caught:
        build_host_library(LARGE, cache=cache)
    assert str(small_disk) in caught.value.where
    assert files(small_disk) == []
    # No free page is left, so neither the compiler's input nor its messages can be written.
    for free in (1, 0):
        rest = small_disk / "rest"
        _fill(rest, free)
        with pytest.raises(CacheError, match="the disk is full"):
            build_host_library("int f() { return 1; }\n", cache=cache)
        assert files(small_disk) == [rest]
        rest.unlink()


def _fill(file: Path, free_pages: int) -> None:
    """Write into the file until only so many pages are free."""
    with file.open("wb", buffering=0) as out:
        while True:
            try:
                out.write(bytes(4096))
            except OSError:
                break
        out.truncate(out.tell() - 4096 * free_pages)
