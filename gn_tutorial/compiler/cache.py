"""The store of compiled libraries: content key -> file, in the user's cache folder.

Several processes may build at once (a class on one JupyterHub, pytest-xdist, two notebooks): writers hold a lock for
their key, write to a scratch folder and rename, so that a reader sees a whole entry or none. Every entry has a seal, a
small file with its size and checksum; an entry that does not fit its seal (power cut, full disk, a curious editor)
counts as absent and is made again. The seal's modification time is the time of last use, by which entries are evicted.

    <root>/entries/ab/<key><suffix>        the entry
    <root>/entries/ab/<key><suffix>.seal   its size and checksum, touched at each use
    <root>/locks/ab.lock                   one lock for all keys that start with ab: a bounded number of files
    <root>/sources/                        text of notebook cells, kept so that error messages can point into it
    <root>/scratch/                        temporary folders of running builds

A class may share a base, the cache of somebody who compiled the course's kernels: each user's own lies over it, and the
base is only read. Whose libraries count: ``cache_trust``.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import filelock
import platformdirs

from gn_tutorial.compiler.cache_trust import close, is_ours, who_may_write
from gn_tutorial.errors import CacheError

DEFAULT_LIMIT_BYTES = 1 << 30
# An entry used this recently is never evicted: its user may be between the look-up and the dlopen.
GRACE_SECONDS = 600.0
# Scratch folders of killed builds are swept when older than this; no build runs for so long.
STALE_SCRATCH_SECONDS = 6 * 3600.0
# A builder that waits longer than this for another one is told so: compilations are stopped long before.
LOCK_SECONDS = 1800.0
# A file that changed more recently may change again without looking different: two seconds is the coarsest file time in
# use (FAT; older NFS has one).
REST_NANOSECONDS = 2_000_000_000
# A compilation takes less room than this for a while: a precompiled header has 25 MB.
_COMPILATION_BYTES = 64 << 20
SEAL = ".seal"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_HINT = "set GNT_CACHE_DIR to a folder you can write to, on a disk with free space"


@dataclass(frozen=True)
class CacheInfo:
    """What the cache holds: entries, their bytes (seals and kept sources included), and the limit in bytes.

    The zig compiler's own cache, about 50 MB where zig is used, is neither counted nor limited.
    """

    root: Path
    entries: int
    bytes: int
    limit_bytes: int


@dataclass(frozen=True)
class _Entry:
    path: Path
    bytes: int
    used: float  # seconds since the epoch


def default_cache() -> Cache:
    """The user's cache: ``$GNT_CACHE_DIR`` if set, otherwise the platform's cache folder for ``gn_tutorial``.

    It lies over ``$GNT_CACHE_BASE``, if set, the root of a cache that others prepared.
    """
    base = os.environ.get("GNT_CACHE_BASE")
    chosen = os.environ.get("GNT_CACHE_DIR")
    root = Path(chosen).expanduser().absolute() if chosen else Path(platformdirs.user_cache_dir("gn_tutorial", False))
    return Cache(root, base=Path(base).expanduser().absolute() if base else None)


def still_there(path: Path) -> bool:
    """Whether the file of an entry that was looked up before is there yet. Counts as a use, as the look-up did.

    Whoever holds on to a path asks at each use: other processes' builds evict what nobody seems to use.
    """
    base = os.environ.get("GNT_CACHE_BASE")
    if not (base and path.is_relative_to(Path(base).expanduser().absolute())):
        with contextlib.suppress(OSError):  # no seal, or a read-only cache: what counts is the file
            os.utime(_seal_of(path))
    return path.is_file()


def checksum(data: bytes) -> str:
    """Content hash used for keys and seals, 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


class Cache:
    """One cache folder. Keys are non-empty strings of lower-case hexadecimal digits (``checksum`` makes them).

    base: the root of another cache, whose entries are found too. It is never written to, and left aside where somebody
    else may write to it. Every method raises CacheError, with a hint, when the folder cannot be used (full disk, no
    permission).
    """

    def __init__(self, root: Path, limit_bytes: int = DEFAULT_LIMIT_BYTES, base: Path | None = None) -> None:
        self.root, self.base = Path(root), base
        self.limit_bytes = limit_bytes

    def get(self, key: str, suffix: str) -> Path | None:
        """The entry's path, or None if it is absent, damaged or a stranger's. Counts as a use."""
        return self._own(key, suffix) or self._of_base(key, suffix)

    def _of_base(self, key: str, suffix: str) -> Path | None:
        if self.base is None:
            return None
        path = self._path(key, suffix, self.base)
        try:
            fits = not who_may_write(path) and _seal_of(path).read_text("ascii") == _seal_of_content(path)
        except (OSError, UnicodeDecodeError):
            return None
        return path if fits else None

    def _own(self, key: str, suffix: str) -> Path | None:
        path = self._path(key, suffix)
        seal = _seal_of(path)
        try:
            # First the touch, then the reading: eviction looks at the time again after it has taken the seal away.
            with contextlib.suppress(PermissionError):
                os.utime(seal)
            expected = seal.read_text("ascii")
            return path if is_ours(path) and expected == _seal_of_content(path) else None
        except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
            return None
        except OSError as error:
            if error.errno == errno.EROFS:  # a read-only cache prepared by an administrator: no touch, still a cache
                return path if is_ours(path) and _fits_seal(path, seal) else None
            if error.errno in (errno.EIO, errno.EISDIR):
                return None
            raise self._refused(error) from error

    def put(self, key: str, suffix: str, made: Path) -> Path:
        """Moves the file ``made`` (from ``scratch``) into the cache under ``key``, replacing an older entry."""
        path = self._path(key, suffix)
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            seal = made.with_name(made.name + SEAL)
            seal.write_text(_seal_text(made.read_bytes()), "ascii")
            for one in (made, seal):
                close(one)
            # A crash between the two renames leaves an entry whose seal is absent or does not fit: a miss.
            os.replace(made, path)
            os.replace(seal, _seal_of(path))
        self._evict(keep=path)
        return path

    def get_or_make(self, key: str, suffix: str, make: Callable[[Path], None]) -> Path:
        """The entry's path; if it is absent, ``make`` writes it to the path it is given, once over all processes.

        What ``make`` raises passes through and leaves nothing behind.
        """
        found = self.get(key, suffix)
        if found is not None:
            return found
        with self.lock(key):
            found = self.get(key, suffix)
            if found is not None:
                return found
            with self.scratch() as folder:
                made = folder / ("made" + suffix)
                make(made)
                return self.put(key, suffix, made)

    @contextlib.contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Holds the lock of ``key`` against other processes and threads. Not re-entrant; hold one at a time."""
        with self._explained():
            folder = self.root / "locks"
            folder.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(folder / f"{key[:2]}.lock", timeout=LOCK_SECONDS)
            try:
                lock.acquire()
            except filelock.Timeout:
                raise CacheError(
                    f"another process has been building for more than {LOCK_SECONDS / 60:.0f} minutes",
                    where=str(lock.lock_file),
                    hint="end that process, or set GNT_CACHE_DIR to another folder",
                ) from None
            except NotImplementedError as error:
                raise CacheError(
                    "the cache folder's file system has no locks", where=str(folder), hint=_HINT
                ) from error
        try:
            yield
        finally:
            lock.release()

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """A temporary folder on the cache's own file system, removed at the end; a full disk inside is a CacheError."""
        with self._explained():
            parent = self.root / "scratch"
            parent.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(dir=parent))
        try:
            yield folder
        except OSError as error:
            if error.errno in _FULL:
                raise self._refused(error) from error
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def keep_source(self, name: str, text: str) -> Path:
        """Writes ``text`` to ``sources/<name>``, which may name a folder, unless it is there; returns its path."""
        path = self.root / "sources" / name
        data = text.encode("utf-8", "surrogatepass")
        with self._explained():
            try:
                if path.read_bytes() == data:
                    stat = path.stat()
                    # Noted now and then only: each touch changes ctime, and the build's quick look-up then reads the
                    # file.
                    if time.time() - max(stat.st_atime, stat.st_mtime) > GRACE_SECONDS / 2:
                        os.utime(path, ns=(time.time_ns(), stat.st_mtime_ns))
                    return path
            except FileNotFoundError:
                pass
            path.parent.mkdir(parents=True, exist_ok=True)
            with self.scratch() as folder:
                made = folder / path.name
                made.write_bytes(data)
                os.replace(made, path)
        return path

    def full(self, messages: str) -> CacheError | None:
        """The error of a disk without room, if that is why a compilation failed; messages: what the compiler said.

        Where not even they could be written there are none, and what it wrote before is deleted by now.
        """
        wordless = not messages.strip() and shutil.disk_usage(self.root).free < _COMPILATION_BYTES
        if wordless or any(os.strerror(one) in messages for one in _FULL):
            return self._refused(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.root)))
        return None

    def info(self) -> CacheInfo:
        """Counts the entries and their bytes."""
        with self._explained():
            entries = list(self._entries())
            size = sum(entry.bytes for entry in entries) + sum(size for _, _, size in self._sources())
        return CacheInfo(self.root, len(entries), size, self.limit_bytes)

    def clear(self) -> int:
        """Removes every entry and kept source, and returns the bytes freed. Libraries loaded at present stay usable.

        Running builds keep their scratch folders and locks. The folders of the zig compiler's own cache and of builds
        for an NPU go as well.
        """
        freed = 0
        with self._explained():
            for entry in list(self._entries()):
                freed += self._remove(entry)
            for path, _, size in list(self._sources()):
                path.unlink(missing_ok=True)
                freed += size
            for other in (self.root / "zig", self.root / "npu"):
                if other.is_dir():
                    freed += sum(file.lstat().st_size for file in other.rglob("*") if not file.is_dir())
                    shutil.rmtree(other, ignore_errors=True)
            self._sweep_scratch()
        return freed

    # --- eviction ----------------------------------------------------------------------------------------------------

    def _path(self, key: str, suffix: str, root: Path | None = None) -> Path:
        if not re.fullmatch(r"[0-9a-f]{2,}", key):
            raise ValueError(f"a cache key is lower-case hexadecimal digits, not {key!r}")
        return (root or self.root) / "entries" / key[:2] / (key + suffix)

    def _entries(self) -> Iterator[_Entry]:
        """Every entry of the store; one without a seal has not been used since it was written."""
        for folder in _scan(self.root / "entries"):
            for item in _scan(Path(folder.path)):
                path = Path(item.path)
                if path.name.endswith(SEAL):
                    continue
                with contextlib.suppress(FileNotFoundError):
                    stat = item.stat()
                    try:
                        seal = _seal_of(path).stat()
                        yield _Entry(path, stat.st_size + seal.st_size, seal.st_mtime)
                    except FileNotFoundError:
                        yield _Entry(path, stat.st_size, stat.st_mtime)

    def _sources(self) -> Iterator[tuple[Path, float, int]]:
        """Kept sources: path, time of last use, bytes."""
        for folder, _, names in os.walk(self.root / "sources"):
            for path in (Path(folder, name) for name in names):
                with contextlib.suppress(FileNotFoundError):
                    stat = path.stat()
                    yield path, max(stat.st_atime, stat.st_mtime), stat.st_size

    def _evict(self, keep: Path) -> None:
        """Removes what was used longest ago until the limit holds; what was used in the last minutes stays."""
        with self._explained():
            self._sweep_scratch()
            entries, sources = list(self._entries()), list(self._sources())
            total = sum(entry.bytes for entry in entries) + sum(size for _, _, size in sources)
            oldest_allowed = time.time() - GRACE_SECONDS
            candidates = [(entry.used, entry) for entry in entries if entry.path != keep]
            candidates += [(used, _Entry(path, size, used)) for path, used, size in sources]
            for used, entry in sorted(candidates, key=lambda pair: pair[0]):
                if total <= self.limit_bytes or used > oldest_allowed:
                    break
                total -= self._remove(entry, unless_used_after=oldest_allowed)

    def _remove(self, entry: _Entry, unless_used_after: float = float("inf")) -> int:
        """Removes one entry and returns its bytes; 0 if it turns out to have been used after ``unless_used_after``.

        The seal goes first, by a rename. A reader that touched it before the rename is seen in its time, and the seal
        is put back; a reader that comes after finds no seal, takes it for a miss and makes the entry again.
        """
        seal = _seal_of(entry.path)
        with self.scratch() as folder:
            taken = folder / "seal"
            with contextlib.suppress(FileNotFoundError):
                os.replace(seal, taken)
                if taken.stat().st_mtime > unless_used_after:
                    os.replace(taken, seal)
                    return 0
            entry.path.unlink(missing_ok=True)
        return entry.bytes

    def _sweep_scratch(self) -> None:
        for item in _scan(self.root / "scratch"):
            with contextlib.suppress(FileNotFoundError):
                if item.stat().st_mtime < time.time() - STALE_SCRATCH_SECONDS:
                    shutil.rmtree(item.path, ignore_errors=True)

    # --- errors ------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> CacheError:
        reasons = {
            errno.ENOSPC: "the disk is full",
            errno.EDQUOT: "the disk quota is used up",
            errno.EACCES: "no permission",
            errno.EPERM: "no permission",
            errno.EROFS: "the file system is read-only",
            errno.ENOTDIR: "a file is in the way of the folder",
            errno.EEXIST: "a file is in the way of the folder",
        }
        reason = reasons.get(error.errno or 0, error.strerror or str(error))
        return CacheError(
            f"the cache folder cannot be used: {reason}", where=str(error.filename or self.root), hint=_HINT
        )


def _seal_of(path: Path) -> Path:
    return path.with_name(path.name + SEAL)


def _seal_text(data: bytes) -> str:
    return f"{len(data)} {checksum(data)}\n"


def _seal_of_content(path: Path) -> str:
    """What the entry's seal must say. A file that has rested is read once per process, as long as it looks the same.

    A precompiled header has 25 MB, and reading it for each kernel would take a quarter of what it saves.
    """
    stat = path.stat()
    if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) < REST_NANOSECONDS:
        return _seal_text(path.read_bytes())
    return _read_once(path, (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino))


@functools.lru_cache(maxsize=64)
def _read_once(path: Path, _looks: tuple[int, int, int, int]) -> str:
    return _seal_text(path.read_bytes())


def _fits_seal(path: Path, seal: Path) -> bool:
    try:
        return seal.read_text("ascii") == _seal_text(path.read_bytes())
    except (OSError, UnicodeDecodeError):
        return False


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            return list(items)
    except FileNotFoundError:
        return []
