"""Shared memory for job files: without a name in any file system, and used again by later launches.

It is a memfd on Linux, an unlinked temporary file elsewhere, so nothing is left behind however Python ends. /dev/shm is
not used on Linux: in a container it is often limited to 64 MiB.

Fresh pages cost more than all that is done with them: the system has to find and clear each one, 4 KiB at a time, and
then once more to free it. A launch of 10^8 elements spent seven eighths of its time so. Therefore memory is kept after
a launch that ended well, up to an eighth of the machine's memory, and given back when Python ends; and large tensors
are on huge pages where the system has them (mapping.py).

Large results are not copied out: the caller's array is a mapping of the memory that the kernel wrote to. It is a
private one: what the caller writes there, or a forked child of the caller, nobody else sees. When the array is gone,
the memory serves another launch.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
import weakref

from gn_tutorial.errors import KernelError
from gn_tutorial.runtime.mapping import BLOCK, Mapping

#: Part of the machine's memory that may be kept, and what counts as its memory where the system does not say.
_KEPT_PART, _UNKNOWN_MEMORY = 8, 8 << 30
#: Memory this many times as large as asked for is not taken: its pages are needed where they fit better.
_LOOSEST = 2
#: So many results may be lent memory at once: each costs three descriptors, of which a process has a thousand.
_MOST_LENT = 16
#: Sizes are rounded up to this, so that launches that differ in little use the same memory.
_STEP = 1 << 20


class SharedMemory:
    """A piece of memory that another process can map: ``descriptor``, and ``view``, this process's mapping of it.

    What it holds at first is anything. Raises KernelError if the system gives none of that size.
    """

    def __init__(self, size: int) -> None:
        step = _STEP if size <= _STEP else BLOCK
        self.size = -(-size // step) * step
        self.descriptor = -1
        self._huge: set[int] = set()  # numbers of blocks
        self._has_huge_pages = True  # as far as one knows
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
        """All of its bytes."""
        return self._mapping.memory

    def use_huge_pages(self, start: int, end: int) -> None:
        """Have the bytes from ``start`` to ``end``, and those beside them in the same blocks, on huge pages if any."""
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
        """Make the first ``size`` bytes zero; whole pages are given back, so that they cost nothing until used."""
        # Half a huge page is not given back: the other half would be pages of the usual size.
        unit = BLOCK if size // BLOCK in self._huge else mmap.PAGESIZE
        pages = size // unit * unit
        if pages < _STEP or not self._mapping.give_back(0, pages):
            pages = 0
        self._huge = {one for one in self._huge if one * BLOCK >= pages}
        self.view[pages:size] = bytes(size - pages)

    def close(self) -> None:
        """Give it back to the system, as soon as nobody looks at it any more: the traceback of an exception, say."""
        os.close(self.descriptor)
        self._mapping = None


class MemoryPool:
    """Shared memory that no launch uses at present, at most ``most_bytes`` of it. For any number of threads."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._free: list[SharedMemory] = []
        self._lent: list[SharedMemory] = []
        # Not a Lock: a result may be collected, and its memory come back, while this thread is in here.
        self._lock = threading.RLock()

    @property
    def bytes(self) -> int:
        """How much is kept."""
        return sum(one.size for one in self._free)

    def take(self, size: int) -> SharedMemory:
        """Memory of at least ``size`` bytes. Raises KernelError if there is none."""
        with self._lock:
            fitting = [one for one in self._free if size <= one.size <= _LOOSEST * max(size, _STEP)]
            if fitting:
                best = min(fitting, key=lambda one: one.size)
                self._free.remove(best)
                return best
        return SharedMemory(size)

    def lends(self, size: int) -> bool:
        """Whether ``lend`` would lend so much more now."""
        with self._lock:
            return len(self._lent) < _MOST_LENT and sum(one.size for one in self._lent) + size <= self._most

    def lend(self, one: SharedMemory, size: int) -> memoryview:
        """A mapping of the first ``size`` bytes for somebody to keep; the memory comes back when it is gone.

        What is written there, nobody else sees. No other process may have the memory mapped.
        """
        lent = Mapping(one.descriptor, size, private=True)
        with self._lock:
            self._lent.append(one)
        weakref.finalize(lent.owner, self._came_back, one).atexit = False
        return lent.memory

    def _came_back(self, one: SharedMemory) -> None:
        with self._lock:
            if one in self._lent:  # else it was lent before a fork, and is the parent's
                self._lent.remove(one)
                self.give(one)

    def give(self, one: SharedMemory) -> None:
        """Keep it for a later launch. No other process may have it mapped."""
        with self._lock:
            self._free.append(one)
            # What was given first goes first: nobody has asked for its size for the longest time.
            dropped = []
            while self.bytes > self._most:
                dropped.append(self._free.pop(0))
        for old in dropped:
            old.close()

    def forget(self) -> None:
        """In a forked child: what is kept belongs to the parent, which goes on using it."""
        self._lock = threading.RLock()
        for one in (*self._free, *self._lent):
            one.close()
        self._free, self._lent = [], []


def _machine_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return _UNKNOWN_MEMORY


#: Of this process.
POOL = MemoryPool(_machine_memory() // _KEPT_PART)
os.register_at_fork(after_in_child=POOL.forget)
