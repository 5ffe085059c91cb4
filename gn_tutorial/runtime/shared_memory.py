"""Shared memory for job files, without a name in any file system; later launches reuse it.

The memory is a memfd on Linux and an unlinked temporary file elsewhere, so nothing is left behind however Python ends.
Linux's /dev/shm is not used, because in a container it is often limited to 64 MiB.

Fresh pages take more time than their use: the system has to find, clear and later free each one, 4 KiB at a time. A
launch of 10^8 elements spent seven eighths of its time on this. So memory is kept after a successful launch, up to an
eighth of the machine's memory, and released when Python ends. Large tensors use huge pages if the system has them
(mapping.py).

Large results are not copied out: the caller's array is a private mapping of the memory that the kernel wrote. No other
process sees the caller's writes to it, and the caller does not see those of a forked child. When the array is gone,
another launch may reuse the memory.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
import weakref

from gn_tutorial.errors import KernelError
from gn_tutorial.runtime.mapping import BLOCK, Mapping

#: One part in _KEPT_PART of the machine's memory may be kept. If the system does not report the machine's memory, it is
#: assumed to be _UNKNOWN_MEMORY bytes.
_KEPT_PART, _UNKNOWN_MEMORY = 8, 8 << 30
#: A launch gets kept memory of at most this many times the size that it needs, or this many times _STEP if it needs
#: less than _STEP. Larger memory is for larger launches.
_LOOSEST = 2
#: The most results that use lent memory at once. Each needs up to three descriptors, and a process may have about a
#: thousand.
_MOST_LENT = 16
#: A size up to this is rounded up to it, a larger size to a multiple of BLOCK, so that launches of similar sizes use
#: the same memory.
_STEP = 1 << 20


class SharedMemory:
    """Memory that another process can map through ``descriptor``. ``view`` is this process's mapping of it.

    ``size`` is rounded up. The first contents are undefined. Raises KernelError if the system cannot provide the size.
    """

    def __init__(self, size: int) -> None:
        step = _STEP if size <= _STEP else BLOCK
        self.size = -(-size // step) * step
        self.descriptor = -1
        self._huge: set[int] = set()  # the numbers of the blocks that are huge pages
        self._has_huge_pages = True  # False once the system has refused them
        try:
            if hasattr(os, "memfd_create"):
                self.descriptor = os.memfd_create("gn_tutorial-job")
            else:
                with tempfile.TemporaryFile(prefix="gn_tutorial-") as file:
                    self.descriptor = os.dup(file.fileno())
            os.ftruncate(self.descriptor, self.size)
            self._mapping: Mapping | None = Mapping(self.descriptor, self.size)
        except (OSError, OverflowError) as error:
            if self.descriptor >= 0:
                os.close(self.descriptor)
            reason = error.strerror if isinstance(error, OSError) else "more than there can be"
            raise KernelError(
                f"no shared memory for the kernel's arguments, {size} bytes: {reason}",
                hint="smaller arrays, or isolated=False for a kernel that ran well before",
            ) from error

    @property
    def view(self) -> memoryview:
        """All bytes of the memory."""
        return self._mapping.memory

    def use_huge_pages(self, start: int, end: int) -> None:
        """Make huge pages of the blocks that contain the bytes from ``start`` to ``end``, if the system has any."""
        last = min(-(-end // BLOCK), self.size // BLOCK)
        missing = [one for one in range(start // BLOCK, last) if one not in self._huge]
        while missing and self._has_huge_pages:
            first = missing[0]
            run = next((i for i, one in enumerate(missing) if one != first + i), len(missing))
            self._has_huge_pages = self._mapping.use_huge_pages(first * BLOCK, (first + run) * BLOCK)
            if self._has_huge_pages:
                self._huge.update(missing[:run])
            missing = missing[run:]

    def clear(self, size: int) -> None:
        """Set the first ``size`` bytes to zero. If they are many, whole pages are given back to the system instead."""
        # Keep a huge page that is cleared only in part, because giving part of it back would split it into small pages.
        unit = BLOCK if size // BLOCK in self._huge else mmap.PAGESIZE
        pages = size // unit * unit
        if pages < _STEP or not self._mapping.give_back(0, pages):
            pages = 0
        self._huge = {one for one in self._huge if one * BLOCK >= pages}
        self.view[pages:size] = bytes(size - pages)

    def close(self) -> None:
        """Close the memory. The system gets it back when nothing, such as a traceback, refers to ``view`` any more."""
        os.close(self.descriptor)
        self._mapping = None


class MemoryPool:
    """Keeps at most ``most_bytes`` of shared memory that no launch uses now. Several threads may use the pool."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._free: list[SharedMemory] = []
        self._lent: list[SharedMemory] = []
        # Not a Lock, because a result may be garbage-collected while this thread holds the lock. Its memory then comes
        # back (_came_back) in the same thread.
        self._lock = threading.RLock()

    @property
    def bytes(self) -> int:
        """The number of bytes in kept memory, without lent memory."""
        return sum(one.size for one in self._free)

    def take(self, size: int) -> SharedMemory:
        """Return memory of at least ``size`` bytes, kept or new. Raises KernelError if the system cannot provide it."""
        with self._lock:
            fitting = [one for one in self._free if size <= one.size <= _LOOSEST * max(size, _STEP)]
            if fitting:
                best = min(fitting, key=lambda one: one.size)
                self._free.remove(best)
                return best
        return SharedMemory(size)

    def lends(self, size: int) -> bool:
        """Whether ``size`` more bytes may be lent now. ``lend`` itself does not check."""
        with self._lock:
            return len(self._lent) < _MOST_LENT and sum(one.size for one in self._lent) + size <= self._most

    def lend(self, one: SharedMemory, size: int) -> memoryview:
        """Return a private mapping of the first ``size`` bytes; the pool gets the memory back when the mapping is gone.

        No other process sees what is written to the mapping. The caller must know that no other process has the memory
        mapped. Raises OSError if the system refuses the mapping.
        """
        lent = Mapping(one.descriptor, size, private=True)
        with self._lock:
            self._lent.append(one)
        weakref.finalize(lent.owner, self._came_back, one).atexit = False
        return lent.memory

    def _came_back(self, one: SharedMemory) -> None:
        with self._lock:
            if one in self._lent:  # otherwise it was lent before a fork, and belongs to the parent
                self._lent.remove(one)
                self.give(one)

    def give(self, one: SharedMemory) -> None:
        """Keep the memory for a later launch. No other process may have it mapped."""
        with self._lock:
            self._free.append(one)
            # Release the oldest first, because no launch has needed it for the longest time.
            dropped = []
            while self.bytes > self._most:
                dropped.append(self._free.pop(0))
        for old in dropped:
            old.close()

    def forget(self) -> None:
        """Close all memory in a forked child, because it belongs to the parent, which still uses it."""
        self._lock = threading.RLock()
        for one in (*self._free, *self._lent):
            one.close()
        self._free, self._lent = [], []


def _machine_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return _UNKNOWN_MEMORY


#: The pool of this process.
POOL = MemoryPool(_machine_memory() // _KEPT_PART)
os.register_at_fork(after_in_child=POOL.forget)
