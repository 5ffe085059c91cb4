"""The seal of a cache entry: a small file beside it with its size and checksum, by which a damaged entry is known."""

from __future__ import annotations

import functools
import hashlib
import time
from pathlib import Path

from gn_tutorial.toml_file import REST_NANOSECONDS

SEAL = ".seal"


def checksum(data: bytes) -> str:
    """Content hash used for keys and seals, 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def seal_of(path: Path) -> Path:
    """The seal of an entry."""
    return path.with_name(path.name + SEAL)


def seal_text(data: bytes) -> str:
    """What the seal of an entry with this content says."""
    return f"{len(data)} {checksum(data)}\n"


def seal_of_content(path: Path) -> str:
    """What the entry's seal must say. A file that has rested is read once per process, as long as it looks the same.

    A precompiled header has 25 MB, and reading it for each kernel would take a quarter of what it saves.
    """
    stat = path.stat()
    if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) < REST_NANOSECONDS:
        return seal_text(path.read_bytes())
    return _read_once(path, (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino))


@functools.lru_cache(maxsize=64)
def _read_once(path: Path, _looks: tuple[int, int, int, int]) -> str:
    return seal_text(path.read_bytes())


def fits_seal(path: Path, seal: Path) -> bool:
    """Whether both can be read and belong together. Reads the entry each time."""
    try:
        return seal.read_text("ascii") == seal_text(path.read_bytes())
    except (OSError, UnicodeDecodeError):
        return False
