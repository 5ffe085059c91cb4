"""Mappings of shared memory that begin where huge pages can, and asking the system for such pages.

A page of 4 KiB is found, cleared and mapped for a microsecond and more, in every process that maps it: of a launch of
10^8 elements in a process of its own that was half of the time. A huge page, 2 MiB on x86-64 and on most of aarch64,
costs that once. Linux gives them to shared memory only where an administrator said so, or where MADV_COLLAPSE asks for
them (6.1 and newer). Where it does not, all is as without.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys
import weakref

#: A huge page. Where they have another size, asking fails, and nothing is lost.
BLOCK = 2 << 20
#: MADV_COLLAPSE of <linux/mman.h>; Python's mmap does not name it.
_COLLAPSE = 25
_FAILED = ctypes.c_void_p(-1).value


class Mapping:
    """``memory``, the first ``size`` bytes of a file, mapped for reading and writing.

    private: what is written there, nobody else sees. The mapping goes when nobody holds ``memory``, or a view of it,
    any more: an array, say, or the traceback of an exception. Raises OSError if the system gives none.
    """

    def __init__(self, descriptor: int, size: int, *, private: bool = False) -> None:
        flags = mmap.MAP_PRIVATE if private else mmap.MAP_SHARED
        #: What the mapping lives as long as.
        self.owner: mmap.mmap | ctypes.Array
        if (libc := _libc()) is None:
            self.owner = mmap.mmap(descriptor, size, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        else:
            at = _mapped_at_a_block(libc, descriptor, size, flags)
            self.owner = (ctypes.c_uint8 * size).from_address(at)
            weakref.finalize(self.owner, libc.munmap, at, size).atexit = False
        self.memory = memoryview(self.owner).cast("B")

    def give_back(self, start: int, end: int) -> bool:
        """Whether the system took back these whole pages, which are zero from now on and cost nothing until used."""
        return hasattr(mmap, "MADV_REMOVE") and self._advise(mmap.MADV_REMOVE, start, end)

    def use_huge_pages(self, start: int, end: int) -> bool:
        """Whether these whole blocks are huge pages from now on; what they hold stays."""
        for block in range(start, end, BLOCK):
            self.memory[block] = self.memory[block]  # a block without any page is refused
        return self._advise(_COLLAPSE, start, end)

    def _advise(self, advice: int, start: int, end: int) -> bool:
        libc = _libc()
        return libc is not None and libc.madvise(ctypes.addressof(self.owner) + start, end - start, advice) == 0


@functools.cache
def _libc() -> ctypes.CDLL | None:
    """The C library, whose mmap is told an address; None where this is not Linux with 64 bits."""
    if not sys.platform.startswith("linux") or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (*(ctypes.c_void_p, ctypes.c_size_t), *(ctypes.c_int,) * 3, ctypes.c_long)
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return libc


def _mapped_at_a_block(libc: ctypes.CDLL, descriptor: int, size: int, flags: int) -> int:
    """The address of a mapping that begins at a multiple of BLOCK: in the middle of room that nobody else has."""
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


#: MAP_FIXED, the same number on every Linux but those of processors that this runs on none of.
_FIXED = 0x10


def _mmap(libc: ctypes.CDLL, at: int | None, size: int, protection: int, flags: int, descriptor: int) -> int:
    found = libc.mmap(at, size, protection, flags, descriptor, 0)
    if found == _FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return found
