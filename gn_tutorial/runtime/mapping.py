"""Map shared memory at addresses where huge pages can begin, and request huge pages.

Finding, clearing and mapping a page of 4 KiB takes a microsecond or more in every process that maps it. These
microseconds were half of the time of an isolated launch of 10^8 elements. A huge page, of 2 MiB on x86-64 and most
aarch64, takes that time only once.
Linux uses huge pages for shared memory only if an administrator enabled them, or if MADV_COLLAPSE requests them (6.1
and newer). Without huge pages everything works, but more slowly.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys
import weakref

#: Bytes of a huge page. If the system has another size, the request fails harmlessly.
BLOCK = 2 << 20
#: MADV_COLLAPSE of <linux/mman.h>; Python's mmap does not name it.
_COLLAPSE = 25
_FAILED = ctypes.c_void_p(-1).value


class Mapping:
    """The first ``size`` bytes of a file, mapped for reading and writing as ``memory``.

    private: what is written to ``memory`` stays invisible to other processes. The mapping ends when nothing refers to
    ``memory`` or to a view of it any more. An array or the traceback of an exception may refer to such a view. Raises
    OSError if the system refuses.
    """

    def __init__(self, descriptor: int, size: int, *, private: bool = False) -> None:
        flags = mmap.MAP_PRIVATE if private else mmap.MAP_SHARED
        #: The object that keeps the mapping alive.
        self.owner: mmap.mmap | ctypes.Array
        if (libc := _libc()) is None:
            self.owner = mmap.mmap(descriptor, size, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        else:
            at = _mapped_at_a_block(libc, descriptor, size, flags)
            self.owner = (ctypes.c_uint8 * size).from_address(at)
            weakref.finalize(self.owner, libc.munmap, at, size).atexit = False
        self.memory = memoryview(self.owner).cast("B")

    def give_back(self, start: int, end: int) -> bool:
        """Give these whole pages back to the system; they are then zero, and take no memory until used.

        Return False if the system refuses.
        """
        return hasattr(mmap, "MADV_REMOVE") and self._advise(mmap.MADV_REMOVE, start, end)

    def use_huge_pages(self, start: int, end: int) -> bool:
        """Turn these whole blocks into huge pages and keep their contents. Return False if the system refuses."""
        for block in range(start, end, BLOCK):
            self.memory[block] = self.memory[block]  # makes a page: the system refuses a block that has none
        return self._advise(_COLLAPSE, start, end)

    def _advise(self, advice: int, start: int, end: int) -> bool:
        libc = _libc()
        return libc is not None and libc.madvise(ctypes.addressof(self.owner) + start, end - start, advice) == 0


@functools.cache
def _libc() -> ctypes.CDLL | None:
    """Return the C library, whose mmap takes an address, unlike Python's; None except on 64-bit Linux."""
    if not sys.platform.startswith("linux") or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (*(ctypes.c_void_p, ctypes.c_size_t), *(ctypes.c_int,) * 3, ctypes.c_long)
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return libc


def _mapped_at_a_block(libc: ctypes.CDLL, descriptor: int, size: int, flags: int) -> int:
    """Map a file at a multiple of BLOCK, and return the address. Raises OSError.

    First a larger range of addresses is reserved. Then the parts before and behind the mapping are released.
    """
    room = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    taken = _mmap(libc, None, room + BLOCK, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1)
    at = -(-taken // BLOCK) * BLOCK
    if at > taken:
        libc.munmap(taken, at - taken)
    libc.munmap(at + room, taken + BLOCK - at)
    try:
        return _mmap(libc, at, size, mmap.PROT_READ | mmap.PROT_WRITE, flags | _FIXED, descriptor)
    except OSError:
        libc.munmap(at, room)
        raise


#: MAP_FIXED: the same number on Linux for every processor that this package supports.
_FIXED = 0x10


def _mmap(libc: ctypes.CDLL, at: int | None, size: int, protection: int, flags: int, descriptor: int) -> int:
    found = libc.mmap(at, size, protection, flags, descriptor, 0)
    if found == _FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return found
