"""The store of compiled libraries: content key -> file, in the user's cache folder.

Several processes may build at once (learners on one JupyterHub, pytest-xdist, two notebooks). So a writer holds a lock
for its key, writes to a scratch folder and renames the file; a reader sees a whole entry or none. Every entry has a
seal, a small file with the entry's size and checksum. An entry that does not fit its seal (after a power cut, on a full
disk, or because somebody edited it) counts as absent and is made again. The seal's modification time is the time of the
entry's last use; the least recently used entries are evicted first.

    <root>/entries/ab/<key><suffix>        the entry
    <root>/entries/ab/<key><suffix>.seal   its size and checksum, touched at each use
    <root>/locks/ab.lock                   one lock for all keys that start with ab: a bounded number of files
    <root>/sources/                        notebook cells and other texts to compile; error messages point into them
    <root>/scratch/                        temporary folders of running builds

The learners of a course may share a base, the cache of somebody who compiled the course's kernels. The base is only
read, and each user's own cache is searched before the base. Loading a library runs its code with the user's rights. So
a library counts only if the user or root made it; a library that another user may have made counts as absent.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import filelock
import platformdirs

from gn_tutorial.compiler import cache_store as store
from gn_tutorial.compiler.cache_store import GRACE_SECONDS, SEAL, fits_seal, seal_of, seal_of_content, seal_text
from gn_tutorial.errors import CacheError

DEFAULT_LIMIT_BYTES = 1 << 30
# A builder that waits longer than this for a lock reports an error. Every compilation is stopped long before, except
# that of zig's C++ library, which may take as long (``build_request.ZIG_FIRST``).
LOCK_SECONDS = 1800.0
# A running compilation needs less free space than this; the largest file that it writes, a precompiled header, has
# 25 MB.
_COMPILATION_BYTES = 64 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT)
_HINT = "set GNT_CACHE_DIR to a folder you can write to, on a disk with free space"


@dataclass(frozen=True)
class CacheInfo:
    """The contents of a cache: the number of entries, their bytes with seals and kept sources, and the limit in bytes.

    The zig compiler's own cache (about 50 MB where zig is used) and builds for an NPU are neither counted nor limited.
    """

    root: Path
    entries: int
    bytes: int
    limit_bytes: int


def default_cache() -> Cache:
    """Return the user's cache: ``$GNT_CACHE_DIR`` if set, otherwise the platform's cache folder for ``gn_tutorial``.

    If ``$GNT_CACHE_BASE`` is set, the cache at that path, which others prepared, is the base.
    """
    base = os.environ.get("GNT_CACHE_BASE")
    chosen = os.environ.get("GNT_CACHE_DIR")
    root = Path(chosen).expanduser().absolute() if chosen else Path(platformdirs.user_cache_dir("gn_tutorial", False))
    return Cache(root, base=Path(base).expanduser().absolute() if base else None)


class Cache:
    """One cache folder. Keys are non-empty strings of lower-case hexadecimal digits (``checksum`` makes them).

    base: the root of another cache, whose entries are found too. The base is never written to, and an entry of the base
    to which another user may write is ignored. Every method but ``full`` raises CacheError, with a hint, when the
    cache folder cannot be used (full disk, no permission).
    """

    def __init__(self, root: Path, limit_bytes: int = DEFAULT_LIMIT_BYTES, base: Path | None = None) -> None:
        self.root, self.base = Path(root), base
        self.limit_bytes = limit_bytes

    def get(self, key: str, suffix: str) -> Path | None:
        """Return the entry's path, or None if it is absent, damaged or another user's.

        For an entry of this cache, not of the base, the call counts as a use.
        """
        return self._own(key, suffix) or self._of_base(key, suffix)

    def _of_base(self, key: str, suffix: str) -> Path | None:
        if self.base is None:
            return None
        path = self._path(key, suffix, self.base)
        try:
            fits = not who_may_write(path) and seal_of(path).read_text("ascii") == seal_of_content(path)
        except (OSError, UnicodeDecodeError):
            return None
        return path if fits else None

    def _own(self, key: str, suffix: str) -> Path | None:
        path = self._path(key, suffix)
        seal = seal_of(path)
        try:
            # Touch the seal before reading it: eviction first takes the seal away, and puts it back if it was just
            # touched (``cache_store.remove``).
            with contextlib.suppress(PermissionError):
                os.utime(seal)
            expected = seal.read_text("ascii")
            return path if is_ours(path) and expected == seal_of_content(path) else None
        except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
            return None
        except OSError as error:
            if error.errno == errno.EROFS:  # an administrator's read-only cache: no seal can be touched
                return path if is_ours(path) and fits_seal(path, seal) else None
            if error.errno in (errno.EIO, errno.EISDIR):
                return None
            raise self._refused(error) from error

    def put(self, key: str, suffix: str, made: Path) -> Path:
        """Moves the file ``made`` (from ``scratch``) into the cache under ``key``, and returns its new path.

        An older entry is replaced.
        """
        path = self._path(key, suffix)
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            seal = made.with_name(made.name + SEAL)
            seal.write_text(seal_text(made.read_bytes()), "ascii")
            for one in (made, seal):
                close(one)
            # A crash between the two renames leaves an entry without a matching seal, which counts as absent.
            os.replace(made, path)
            os.replace(seal, seal_of(path))
            store.sweep_scratch(self.root)
        with self._explained(), self.scratch() as folder:
            store.evict(self.root, self.limit_bytes, path, folder)
        return path

    def get_or_make(self, key: str, suffix: str, make: Callable[[Path], None]) -> Path:
        """Return the entry's path. If the entry is absent, one process makes it, and the others wait.

        ``make`` writes the file to the path that it is given. An exception of ``make`` passes through and leaves no
        entry.
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
        """Holds the lock of ``key`` against other processes and threads. A process must hold only one lock at a time.

        Raises CacheError also after LOCK_SECONDS, or if the file system has no locks.
        """
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
        """Yields a temporary folder on the cache's file system, and removes it afterwards.

        Raises CacheError if the disk becomes full while the folder is in use.
        """
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
        """Writes ``text`` to ``sources/<name>``, unless that file has it already; returns the file's path.

        The name may begin with folders.
        """
        path = self.root / "sources" / name
        data = text.encode("utf-8", "surrogatepass")
        with self._explained():
            try:
                if path.read_bytes() == data:
                    stat = path.stat()
                    # Touch the file only now and then, because a touch changes its ctime, and then the next look-up of
                    # a build must hash the file.
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
        """Return the error of a full disk if a compilation failed because the disk is full, else None.

        messages: the compiler's output. If it is empty, because the messages did not fit on the disk either, little
        free space counts as a full disk. Some space is free again by now, because the compiler has deleted its own
        files.
        """
        wordless = not messages.strip() and shutil.disk_usage(self.root).free < _COMPILATION_BYTES
        if wordless or any(os.strerror(one) in messages for one in _FULL):
            return self._refused(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.root)))
        return None

    def info(self) -> CacheInfo:
        """Returns the number of entries, their bytes and the limit."""
        with self._explained():
            entries = list(store.entries(self.root))
            size = sum(one.bytes for one in [*entries, *store.sources(self.root)])
        return CacheInfo(self.root, len(entries), size, self.limit_bytes)

    def clear(self) -> int:
        """Removes every entry and kept source, and returns the bytes freed. Libraries that are loaded stay usable.

        Zig's own cache and the builds for an NPU are removed too. Running builds keep their scratch folders and locks.
        """
        freed = 0
        with self._explained():
            with self.scratch() as folder:
                for stored in [*store.entries(self.root), *store.sources(self.root)]:
                    freed += store.remove(stored, folder)
            for other in (self.root / "zig", self.root / "npu"):
                if other.is_dir():
                    freed += sum(file.lstat().st_size for file in other.rglob("*") if not file.is_dir())
                    shutil.rmtree(other, ignore_errors=True)
            store.sweep_scratch(self.root)
        return freed

    def _path(self, key: str, suffix: str, root: Path | None = None) -> Path:
        if not re.fullmatch(r"[0-9a-f]{2,}", key):
            raise ValueError(f"a cache key is lower-case hexadecimal digits, not {key!r}")
        return (root or self.root) / "entries" / key[:2] / (key + suffix)

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


def is_ours(path: Path) -> bool:
    """Whether a file of the user's own cache belongs to the user or root. True where files have no owner (Windows).

    Modes are not checked: ``close`` has removed others' right to write, and on a file system without modes (a Windows
    disk under WSL2) every user may seem to have that right. Raises OSError if the file does not exist.
    """
    found = path.stat()
    return not hasattr(os, "geteuid") or _trusted(found)


def close(path: Path) -> None:
    """Remove the right of others to write into a new file, because a container's umask may grant that right.

    The group keeps its right.
    """
    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~stat.S_IWOTH)


def who_may_write(path: Path) -> str:
    """Return why another user may have written a file or folder of a shared base; "" if no other user may.

    The text is a clause such as "/x belongs to user 7". The file and all folders above it must belong to root or the
    user, and neither group nor others may write to them. A sticky folder above the file, such as /tmp, may be writable,
    because nobody can replace another user's files in it. On a system without user ids (Windows) the text is never
    empty. Raises OSError if there is no such file.
    """
    if not hasattr(os, "geteuid"):
        return "this system does not say who may write"
    real = path.resolve(strict=True)
    for one in (real, *real.parents):
        found = one.stat()
        if not _trusted(found):
            return f"{one} belongs to user {found.st_uid}"
        sticky = one != real and bool(found.st_mode & stat.S_ISVTX)
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not sticky:
            return f"{one} may be written by others (mode {stat.S_IMODE(found.st_mode):o})"
    return ""


def _trusted(found: os.stat_result) -> bool:
    return found.st_uid in (0, os.geteuid())
