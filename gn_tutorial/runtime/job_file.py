"""The job file: shared memory that passes one launch to the launcher, and the launch's outcome back.

Later launches reuse the memory once no process can have it mapped (shared_memory.py). The memory may then hold old
data, so every byte is written before it is read.

A large tensor that the kernel writes has memory of its own (``descriptor``) if the pool may lend it. The launcher maps
this memory instead of the tensor's place in the file. The result's array may keep the memory, so the data need no copy.

Each tensor has pages of its own. It starts at a multiple of 512 bytes, and ends at most 543 bytes before the end of its
pages. The launcher maps these pages far from anything else (gn_twin/base/far_addresses.h). So an access past a tensor's
end traps at once, or hits poison, and its address shows to which tensor it belongs, however far it went. If an access
changes poison around a tensor that the kernel may write, the change is found afterwards (``overrun``).
Behind the head of the file, the kernel can access only the tensors' pages. So it cannot read what an earlier launch
left in other pages.
"""

from __future__ import annotations

import ctypes
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from gn_tutorial.abi.job_structs import MAGIC, JobFileArg, JobFileHeader
from gn_tutorial.abi.trace import Trace
from gn_tutorial.errors import KernelError
from gn_tutorial.runtime.job_layout import ArgPlace, JobLayout, tail_bytes
from gn_tutorial.runtime.launch_types import POISONED, WRITTEN, LaunchArg, LaunchRequest, poison_word
from gn_tutorial.runtime.mapping import BLOCK
from gn_tutorial.runtime.shared_memory import POOL
from gn_tutorial.runtime.trace_buffer import TraceBuffer

_REPORT_BYTES = 64 * 1024
#: A tensor that the kernel writes may have memory of its own from this many bytes. Copying a smaller one out of the
#: file is faster than making memory for it.
_OWN_FROM = 1 << 20


class JobFile:
    """One launch in shared memory, as a context manager. The arrays of ``arrays`` outlive it.

    memory_bytes, cpu_seconds, wall_seconds: limits that the launcher sets. Raises KernelError if the system gives no
    shared memory of the needed size.
    """

    def __init__(
        self,
        library: Path,
        request: LaunchRequest,
        *,
        memory_bytes: int,
        cpu_seconds: int,
        wall_seconds: int,
    ) -> None:
        args, folder, tracing = request.args, request.folder, request.tracing
        names = [arg.name.encode() for arg in args]
        start = None if folder is None else os.fsencode(folder.resolve())
        options, severities = request.options.to_abi(), request.options.severities()
        layout = JobLayout(ctypes.sizeof(JobFileHeader) + len(args) * ctypes.sizeof(JobFileArg))
        library_at, entry_at, folder_at, severities_at, *names_at = layout.place_texts(
            [os.fsencode(library), request.entry.encode(), start, severities, *names]
        )
        report_at = layout.take(_REPORT_BYTES)
        self._room = TraceBuffer(tracing, args, request.blocks) if tracing is not None else None
        chosen = self._room.chosen_bytes if self._room else b""
        chosen_at = layout.take(len(chosen))
        watches = bytes(self._room.watches) if self._room else b""
        self._watches_at = layout.take(len(watches))
        # The file is sparse, so a large trace buffer takes no memory until it is written.
        self._trace_at = layout.take(tracing.bytes) if tracing is not None else 0
        places = layout.arguments(args)

        self._reusable = False
        self._lent: set[str] = set()
        self._shared = POOL.take(layout.bytes)
        self._shared.clear(layout.head_bytes)
        self.descriptor, self._memory = self._shared.descriptor, self._shared.view
        self.places = self._with_own_memory(places)
        #: The file descriptors that the launcher needs besides the job file's.
        self.descriptors = tuple([place.own.descriptor for place in self.places if place.own])
        for at, text in layout.texts:
            self._memory[at : at + len(text)] = text
        # Structs are written as bytes, because a ctypes view into the mapping would prevent closing it.
        header = JobFileHeader(
            magic=MAGIC,
            header_bytes=ctypes.sizeof(JobFileHeader),
            blocks=request.blocks,
            arg_count=len(args),
            tiling_key=request.tiling_key,
            library_at=library_at,
            entry_at=entry_at,
            args_at=ctypes.sizeof(JobFileHeader),
            report_at=report_at,
            report_bytes=_REPORT_BYTES,
            memory_bytes=memory_bytes,
            cpu_seconds=cpu_seconds,
            wall_seconds=wall_seconds,
            head_bytes=layout.head_bytes,
            folder_at=folder_at,
            options=options,
            trace_at=self._trace_at,
            trace_bytes=tracing.bytes if tracing is not None else 0,
            chosen_at=chosen_at,
            chosen_count=len(chosen) // 4,
            watches_at=self._watches_at,
            watch_count=len(self._room.watches) if self._room else 0,
            with_origins=self._room.with_origins if self._room else 0,
            severities_at=severities_at,
        )
        self._memory[: ctypes.sizeof(JobFileHeader)] = bytes(header)
        self._memory[chosen_at : chosen_at + len(chosen)] = chosen
        self._memory[self._watches_at : self._watches_at + len(watches)] = watches
        self._report_at = report_at
        for index, (place, name_at) in enumerate(zip(self.places, names_at, strict=True)):
            self._describe(index, place, name_at)
            self._fill(place)

    def __enter__(self) -> JobFile:
        return self

    def __exit__(self, *_: object) -> None:
        kept = [place.own for place in self.places if place.own and place.arg.name not in self._lent]
        for one in (self._shared, *kept):
            if self._reusable:
                POOL.give(one)
            else:
                one.close()

    def ended_well(self) -> None:
        """Allow later launches to reuse the memory, after the process has ended.

        The memory is reused only if the launcher installed the system-call filter (``filtered``). Without the filter, a
        child of the process may still use the memory.
        """
        self._reusable = bool(self.header().filtered)

    def header(self) -> JobFileHeader:
        """Return the launcher's entries so far. The kernel can write here too, so any field may have any value."""
        return JobFileHeader.from_buffer_copy(self._memory)

    def report(self) -> bytes:
        """Return the bytes of the report in which the twin wrote its diagnostics."""
        return bytes(self._memory[self._report_at : self._report_at + _REPORT_BYTES])

    def trace(self) -> Trace | None:
        """Return the trace, or None if it was not requested. Raises KernelError if the kernel overwrote it."""
        if self._room is None:
            return None
        found = self.header().trace
        used = min(int(found.used), self._room.bytes)
        watches = type(self._room.watches).from_buffer_copy(self._memory, self._watches_at)
        return self._room.decode(bytes(self._memory[self._trace_at : self._trace_at + used]), found, watches)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that the kernel wrote, by argument name: copies, or arrays that own their memory.

        No array is a view of the file. A view would keep all inputs in memory too. It would also stay shared with a
        forked child (a data loader's worker), so that the child's writes would show in the parent.
        """
        return {place.arg.name: self._array(place) for place in self.places if place.arg.role in WRITTEN}

    def _array(self, place: ArgPlace) -> np.ndarray:
        shape, dtype = place.arg.data.shape, place.arg.dtype
        if place.own and self._reusable and POOL.lends(place.own.size):
            self._lent.add(place.arg.name)
            memory = POOL.lend(place.own, place.pages_bytes)
            flat = np.frombuffer(memory, dtype, place.arg.nbytes // dtype.itemsize, place.data_at - place.pages_at)
            return flat.reshape(shape)
        copied = np.empty(shape, dtype)
        copy_into(copied.reshape(-1), self._data(place))
        return copied

    def _with_own_memory(self, places: list[ArgPlace]) -> list[ArgPlace]:
        """Return the places, with separate memory for each large tensor that the kernel writes.

        The tensor stays in the file if the pool may lend no such memory. Raises KernelError if the system gives none.
        """
        found = []
        try:
            for place in places:
                large = place.pages_bytes >= _OWN_FROM and place.arg.role in WRITTEN and hasattr(os, "memfd_create")
                own = POOL.take(place.pages_bytes) if large and POOL.lends(place.pages_bytes) else None
                found.append(replace(place, own=own))
        except KernelError:
            for one in (self._shared, *(place.own for place in found if place.own)):
                one.close()
            raise
        return found

    def overrun(self) -> tuple[LaunchArg, int] | None:
        """Return the first argument with a changed byte before or behind it, and the offset of that byte.

        The offset counts from the argument's start. Only arguments that the kernel may write are checked. None if there
        is no such byte. An observed library ends a copy at the argument's end (tensor/emit_copy.h), so only a pointer
        can change a byte behind the argument there. A bare library copies whole blocks, so the first
        ``tail_bytes(arg)`` bytes behind the argument may change without a mistake.
        """
        for place in self.places:
            if place.arg.role in WRITTEN and place.pages_bytes and (at := self._changed_around(place)) is not None:
                return place.arg, at
        return None

    def argument_at(self, address: int) -> tuple[LaunchArg, int] | None:
        """Return the tensor to which an address of the launcher belongs, and the offset from the tensor's start.

        None if it belongs to no tensor.
        """
        found = []
        for index, place in enumerate(self.places):
            row = JobFileArg.from_buffer_copy(self._memory, self._row_at(index))
            first, last = row.pages_address, row.pages_address + place.pages_bytes - 1
            distance = max(first - address, address - last, 0)
            if place.pages_at and distance <= row.around:
                found.append((distance, place.arg, address - first - (place.data_at - place.pages_at)))
        return min(found, key=lambda one: one[0])[1:] if found else None

    @staticmethod
    def _row_at(index: int) -> int:
        """Return the place of an argument's row in the file."""
        return ctypes.sizeof(JobFileHeader) + index * ctypes.sizeof(JobFileArg)

    def _describe(self, index: int, place: ArgPlace, name_at: int) -> None:
        arg = place.arg
        data_at = 0 if arg.absent else place.data_at
        held = 1 + [other.arg.name for other in self.places].index(arg.same_as) if arg.same_as else 0
        row = JobFileArg(name_at, data_at, arg.nbytes, place.pages_at, place.pages_bytes, held, arg.kind, arg.role)
        row.address = self._room.addresses.get(arg.same_as or arg.name, 0) if self._room else 0
        row.poison, row.element_bytes = poison_word(arg.dtype), arg.dtype.itemsize
        row.descriptor = place.own.descriptor if place.own else 0
        at = self._row_at(index)
        self._memory[at : at + ctypes.sizeof(JobFileArg)] = bytes(row)

    def _fill(self, place: ArgPlace) -> None:
        arg = place.arg
        if place.pages_bytes >= BLOCK:
            memory, first = (place.own, place.pages_at) if place.own else (self._shared, 0)
            memory.use_huge_pages(place.pages_at - first, place.pages_at - first + place.pages_bytes)
        if place.pages_bytes:
            memory, first = self._memory_of(place)
            for start, stop, poison in self._around(place):
                memory[start - first : stop - first] = poison
        if not arg.nbytes or arg.same_as or arg.role in POISONED:  # nothing to copy; the launcher fills POISONED
            return
        if isinstance(arg.data, np.ndarray):
            copy_into(self._data(place), arg.data.reshape(-1))
        else:
            self._memory[place.data_at : place.data_at + arg.nbytes] = arg.data

    def _data(self, place: ArgPlace) -> np.ndarray:
        dtype = place.arg.dtype
        memory, start = self._memory_of(place)
        return np.frombuffer(memory, dtype, place.arg.nbytes // dtype.itemsize, place.data_at - start)

    def _memory_of(self, place: ArgPlace) -> tuple[memoryview, int]:
        """Return the memory that holds the argument's pages, and the file offset of that memory's first byte."""
        return (place.own.view, place.pages_at) if place.own else (self._memory, 0)

    def _around(self, place: ArgPlace) -> tuple[tuple[int, int, bytes], tuple[int, int, bytes]]:
        """Return two parts of the argument's pages, before and behind the argument: start, stop and poison of each.

        start and stop are file offsets. The poison fits the argument's dtype, so a read past the end of a float array
        gives NaN.
        """
        end = place.data_at + place.arg.nbytes
        word = poison_word(place.arg.dtype).to_bytes(8, "little")

        def part(start: int, stop: int) -> tuple[int, int, bytes]:
            return start, stop, (word * ((stop - start) // 8 + 1))[: stop - start]

        return part(place.pages_at, place.data_at), part(end, place.pages_at + place.pages_bytes)

    def _changed_around(self, place: ArgPlace) -> int | None:
        memory, first = self._memory_of(place)
        tail = 0 if self.header().observed else tail_bytes(place.arg)
        # Of several changed bytes return the nearest: the last one before the start, or the first one after the end.
        (before, data, low), (end, after, high) = self._around(place)
        for start, stop, expected, nearest in ((before, data, low, -1), (end + tail, after, high[tail:], 0)):
            found = bytes(memory[start - first : stop - first])
            if found != expected:
                changed = np.flatnonzero(np.frombuffer(found, np.uint8) != np.frombuffer(expected, np.uint8))
                return int(changed[nearest]) + start - place.data_at
        return None


#: The fewest bytes for each of several threads. A smaller copy goes through the processor's caches, which first read
#: the memory that the copy overwrites. So two threads that copy 20 MB each take as long as one thread that copies
#: 40 MB, and use twice its processor time.
_SHARE = 64 << 20
#: The most threads that copy. More threads get no more bandwidth from the memory.
_MOST_THREADS = 8


def usable_cpus() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def copy_into(target: np.ndarray, source: np.ndarray) -> None:
    """Copy ``source`` to ``target``, two flat arrays of one length and dtype, on several threads if they are large."""
    shares = min(target.nbytes // _SHARE, usable_cpus(), _MOST_THREADS)
    if shares < 2:
        np.copyto(target, source)
        return
    ends = [target.size * index // shares for index in range(shares + 1)]

    def copy(start: int, end: int) -> None:
        np.copyto(target[start:end], source[start:end])

    with ThreadPoolExecutor(shares - 1) as threads:
        others = [threads.submit(copy, *pair) for pair in pairwise(ends[1:])]
        copy(0, ends[1])
        for one in others:
            one.result()
