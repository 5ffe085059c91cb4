"""Lists the files of the cache's folder, seals the entries, and evicts entries above the limit.

A seal is a small file beside an entry, with the entry's size and checksum; a damaged entry does not fit its seal.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import time
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.toml_file import look_of

# Entries used this recently are never evicted, because a process may be between the look-up and the dlopen.
GRACE_SECONDS = 600.0
# A scratch folder older than this belongs to a killed build and is removed, because no build runs for so long.
STALE_SCRATCH_SECONDS = 6 * 3600.0


@dataclass(frozen=True)
class Stored:
    """An entry with its seal, or a kept source."""

    path: Path
    bytes: int
    used: float  # seconds since the epoch


def entries(root: Path) -> Iterator[Stored]:
    """Yield every entry of the cache. ``used`` is the seal's modification time; without a seal, the entry's own."""
    for folder in _scan(root / "entries"):
        for item in _scan(Path(folder.path)):
            path = Path(item.path)
            if path.name.endswith(SEAL):
                continue
            with contextlib.suppress(FileNotFoundError):
                stat = item.stat()
                try:
                    seal = seal_of(path).stat()
                    yield Stored(path, stat.st_size + seal.st_size, seal.st_mtime)
                except FileNotFoundError:
                    yield Stored(path, stat.st_size, stat.st_mtime)


def sources(root: Path) -> Iterator[Stored]:
    """Yield every kept source."""
    for folder, _, names in os.walk(root / "sources"):
        for path in (Path(folder, name) for name in names):
            with contextlib.suppress(FileNotFoundError):
                stat = path.stat()
                yield Stored(path, stat.st_size, max(stat.st_atime, stat.st_mtime))


def evict(root: Path, limit_bytes: int, keep: Path, scratch: Path) -> None:
    """Removes the least recently used entries and sources until at most ``limit_bytes`` are left.

    ``keep`` and files used in the last GRACE_SECONDS stay. scratch: an empty folder on the same file system.
    """
    stored = [*entries(root), *sources(root)]
    total = sum(one.bytes for one in stored)
    oldest_allowed = time.time() - GRACE_SECONDS
    for one in sorted(stored, key=lambda one: one.used):
        if total <= limit_bytes or one.used > oldest_allowed:
            break
        if one.path != keep:
            total -= remove(one, scratch, unless_used_after=oldest_allowed)


def remove(stored: Stored, scratch: Path, unless_used_after: float = float("inf")) -> int:
    """Removes an entry or source and returns its bytes; keeps an entry and returns 0 if it was used after a given time.

    unless_used_after: this time, in seconds since the epoch. A source, or an entry without a seal, is always removed.
    The seal is taken away first, by a rename. If a reader touched the seal before the rename, the seal's time shows the
    touch, and the seal is put back. A later reader finds no seal, so the entry counts as absent and is made again.
    """
    seal, taken = seal_of(stored.path), scratch / "seal"
    with contextlib.suppress(FileNotFoundError):
        os.replace(seal, taken)
        if taken.stat().st_mtime > unless_used_after:
            os.replace(taken, seal)
            return 0
    stored.path.unlink(missing_ok=True)
    return stored.bytes


def sweep_scratch(root: Path) -> None:
    """Removes the temporary folders that killed builds left behind."""
    for item in _scan(root / "scratch"):
        with contextlib.suppress(FileNotFoundError):
            if item.stat().st_mtime < time.time() - STALE_SCRATCH_SECONDS:
                shutil.rmtree(item.path, ignore_errors=True)


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            return list(items)
    except FileNotFoundError:
        return []


SEAL = ".seal"


def checksum(data: bytes) -> str:
    """Return the content hash that keys and seals use, 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def seal_of(path: Path) -> Path:
    """Return the path of an entry's seal."""
    return path.with_name(path.name + SEAL)


def still_there(path: Path) -> bool:
    """Whether an entry's file, found by an earlier look-up, still exists. The call counts as a use of the entry.

    An object that keeps a path calls this at each use, because builds in other processes evict entries that seem
    unused. An entry of the base is never evicted, so its seal is not touched.
    """
    base = os.environ.get("GNT_CACHE_BASE")
    if not (base and path.is_relative_to(Path(base).expanduser().absolute())):
        with contextlib.suppress(OSError):  # without a seal, or in a read-only cache, only the file matters
            os.utime(seal_of(path))
    return path.is_file()


def seal_text(data: bytes) -> str:
    """Return the text of the seal for an entry with this content."""
    return f"{len(data)} {checksum(data)}\n"


def seal_of_content(path: Path) -> str:
    """Return the text that the seal of this entry must have.

    A process reads an entry's file again only if the file changed, was saved moments ago, or is not among the last 64
    that the process read. A precompiled header has 25 MB, and reading it for each kernel would take a quarter of the
    time that the header saves.
    """
    return _read_once(path, look_of(path))


@functools.lru_cache(maxsize=64)
def _read_once(path: Path, _look: Hashable) -> str:
    return seal_text(path.read_bytes())


def fits_seal(path: Path, seal: Path) -> bool:
    """Whether entry and seal can be read and match. The entry is read at each call."""
    try:
        return seal.read_text("ascii") == seal_text(path.read_bytes())
    except (OSError, UnicodeDecodeError):
        return False
