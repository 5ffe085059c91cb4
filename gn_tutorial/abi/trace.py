"""The trace of a launch: the events that the twin recorded, and the request for a trace (``Tracing``).

``trace_decode`` makes the trace from the slots that the twin writes (``twin/include/gn_twin/trace/trace.h``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from gn_tutorial.errors import ArgumentError

#: Bytes of a line of the L2 cache (trace/l2_lines.h), which the cache holds or drops as a whole.
LINE_BYTES = 512
#: Address of the first argument of a traced launch in the model's global memory. Any multiple of 512 would do.
FIRST_ADDRESS = 1 << 24
_SLOT_BYTES = 64
_MIB = 1024 * 1024


class Pipe(IntEnum):
    """The queues of one vector core, in the twin's order; ALL stands for all of them."""

    S = 0
    V = 1
    MTE2 = 2
    MTE3 = 3
    ALL = 4


class Kind(IntEnum):
    """The kind of an event: ``Kind`` of event.h, or SCALARS, a run of scalar accesses.

    A trace has no events of the kinds PADDING and WORDS.
    """

    VECTOR = 0
    COPY = 1
    SCALAR = 2
    SET_FLAG = 3
    WAIT_FLAG = 4
    BARRIER = 5
    SYNC_ALL = 6
    CLEAN_CACHE = 7
    CROSS_FLAG = 8
    INIT_BUFFER = 9
    ALLOC = 10
    ENQUE = 11
    DEQUE = 12
    FREE = 13
    RELEASE = 14
    ACQUIRE = 15
    PADDING = 16
    WORDS = 17
    SCALARS = 18


class Space(IntEnum):
    """The memory of an operand: the Unified Buffer of the core, or global memory."""

    UB = 0
    GM = 1


class Access(IntEnum):
    """Whether an instruction reads or writes an operand."""

    READ = 0
    WRITE = 1
    READ_WRITE = 2


class Flow(IntEnum):
    """How the results of an instruction depend on its sources: ``enum class Flow`` of event.h."""

    MOVES = 0
    LANES = 1
    ACCUMULATE = 2
    FOLD = 3


class Operand(NamedTuple):
    """One operand of one event. ``Operand`` of event.h documents the fields of the layout.

    at: byte address, from the start of the Unified Buffer or in the model's global memory (``Tracing.place``). lines:
    number of 512-byte lines of global memory that the operand touches, counted row by row. cold: how many of these
    lines the launch had not touched before. reuse_lines: the largest reuse distance of the other lines; the distance of
    a line is the number of lines that the block moved since the previous access to that line. cold_blocks: number of
    32-byte blocks that nothing had touched before; if two rows share a line, each counts the blocks of its own part.
    cached: False if the access bypasses the L2 cache. floats: whether the elements are floating-point numbers. pieces:
    the start of each row, in bytes from ``at``; empty if the rows have a pitch, or without ``Tracing.origins``.
    """

    role: str
    space: Space
    access: Access
    argument: str
    at: int
    bytes: int
    element_bytes: int
    strided: bool
    blk_stride: int
    rep_stride: int
    rows: int
    row_bytes: int
    row_pitch: int
    cached: bool
    lines: int
    cold: int
    reuse_lines: int
    cold_blocks: int
    floats: bool = False
    pieces: tuple[int, ...] = ()


class MadeTensor(NamedTuple):
    """A tensor of a block that Get, GetWithOffset, AllocTensor or a constructor with an address made (``op``).

    number: of the last 65,535 tensors that the block made, no two have the same.
    """

    number: int
    op: str
    file: str
    line: int


class Event(NamedTuple):
    """One operation of one block, or (kind SCALARS) a run of accesses by one source line to one argument or the UB.

    pipe: the queue of the operation. flag, event_id: of a SET_FLAG or WAIT_FLAG: MTE2 sets "MTE2_V", V waits for it.
    repeats, flow: of a vector instruction. element_bytes: of the widest operand. lanes: number of elements processed,
    or of accesses for SCALARS. per_repeat, first, last, mask: the active lanes, as in ``ActiveLanes`` of event.h (mask
    None: the leading lanes). changes: for SCALARS, how often an access left the 64-byte line of the access before.
    atomic: whether a copy adds its data to the old values, or keeps the larger or the smaller of both.
    """

    kind: Kind
    pipe: Pipe
    op: str
    file: str
    line: int
    block: int
    repeats: int
    element_bytes: int
    lanes: int
    per_repeat: int
    first: int
    last: int
    mask: int | None
    flag: str
    event_id: int
    operands: tuple[Operand, ...]
    changes: int
    flow: Flow = Flow.MOVES
    atomic: bool = False


#: The operand of a Watch on a run of scalar accesses; such a Watch gets the value at the last access.
SCALARS = 0xFFFFFFFF


class Watch(NamedTuple):
    """A request for one value: the bytes of an operand at its event, before the instruction computes.

    block: a recorded block. event: index among the block's events. operand: index among the event's operands. offset:
    in bytes from the operand's start. For scalar accesses the operand is SCALARS, and the offset is an address.
    """

    block: int
    event: int
    operand: int
    offset: int


class TracedArgument(NamedTuple):
    """A tensor argument and its place in the model's global memory, in bytes."""

    name: str
    address: int
    bytes: int


class Lines(NamedTuple):
    """Counts of 512-byte lines over all blocks of the launch. They are exact, even if few blocks were recorded.

    read: reads of a line. cold: reads through the L2 cache of a line that nothing had touched before. bypassed: reads
    past the cache. written: writes of a line. dirty: different lines written. held: different lines read through the
    cache or written. bypassed_bytes: bytes read past the cache, in whole 32-byte blocks.
    """

    read: int
    cold: int
    bypassed: int
    written: int
    dirty: int
    held: int
    bypassed_bytes: int


@dataclass(frozen=True)
class Trace:
    """The events of the recorded blocks of one launch, in each block's program order.

    blocks: recorded events by block. launched: number of blocks of the launch. complete: False if the memory for the
    trace was full and events are missing. arguments: the tensors. lines: counts over all blocks. watched: for each
    Watch the (up to eight) bytes found; empty if there is no such event or operand byte. tensors: (block, index of an
    event in it) -> for each operand the tensor that it comes from, None if that is unknown; only in a trace of origins,
    and for events with a tensor.
    """

    blocks: Mapping[int, tuple[Event, ...]]
    launched: int
    complete: bool
    arguments: tuple[TracedArgument, ...]
    lines: Lines
    watched: tuple[bytes, ...] = ()
    tensors: Mapping[tuple[int, int], tuple[MadeTensor | None, ...]] = field(default_factory=dict)

    @property
    def sampled(self) -> bool:
        """Whether some blocks of the launch were not recorded."""
        return len(self.blocks) < self.launched

    def weights(self) -> dict[int, int]:
        """Return recorded block -> the number of launched blocks that have it as their ``nearest`` recorded block."""
        known = sorted(self.blocks)
        weights = dict.fromkeys(known, 0)
        for block in self.nearest():
            weights[block] += 1
        return weights

    def nearest(self) -> list[int]:
        """Return, for each block of the launch, the nearest recorded block; the later of two that are equally near."""
        known, place, found = sorted(self.blocks), 0, []
        for block in range(self.launched):
            while place + 1 < len(known) and abs(known[place + 1] - block) <= abs(known[place] - block):
                place += 1
            found.append(known[place])
        return found

    def __repr__(self) -> str:
        """Show counts only, and no address of this machine."""
        events = sum(len(events) for events in self.blocks.values())
        full = "" if self.complete else ", cut off where the room ended"
        return f"Trace({len(self.blocks)} of {self.launched} blocks, {events:,} events{full})"


@dataclass(frozen=True, kw_only=True)
class Tracing:
    """A request for a trace of a launch.

    blocks: the number of blocks to record (spread evenly, with the first and the last), or a list of blocks. offsets:
    argument name -> the bytes by which the argument starts behind a multiple of 512 in the model's global memory.
    bytes: memory for the trace; each event and each operand takes 64 bytes. watches: values to record. origins: also
    record ``Trace.tensors``, and where each row of an operand begins if the rows have no pitch, as in a gather.

    Raises ArgumentError for a number of blocks below 1, less than 64 bytes, or a negative offset.
    """

    blocks: int | Sequence[int] = 8
    offsets: Mapping[str, int] = field(default_factory=dict)
    bytes: int = 256 * _MIB
    watches: Sequence[Watch] = ()
    origins: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.blocks, int) and self.blocks < 1:
            raise ArgumentError(f"Tracing: blocks cannot be {self.blocks}", hint="at least 1, or a list of blocks")
        if self.bytes < _SLOT_BYTES:
            raise ArgumentError(f"Tracing: bytes cannot be {self.bytes}", hint=f"at least {_SLOT_BYTES}")
        for name, offset in self.offsets.items():
            if offset < 0:
                raise ArgumentError(f"Tracing: the offset of '{name}' cannot be {offset}", hint="0 or more bytes")

    def chosen(self, launched: int) -> tuple[int, ...]:
        """Return the blocks to record in a launch of ``launched`` blocks.

        Raises ArgumentError for a list that is empty or has a block that the launch has not.
        """
        if isinstance(self.blocks, int):
            count = min(self.blocks, launched)
            return tuple(sorted({index * (launched - 1) // max(count - 1, 1) for index in range(count)}))
        wrong = [block for block in self.blocks if not 0 <= block < launched]
        if wrong or not self.blocks:
            what = f"block {wrong[0]} is not launched" if wrong else "no blocks are chosen"
            raise ArgumentError(f"Tracing: {what}", hint=f"choose from the blocks 0 to {launched - 1}")
        return tuple(sorted(set(self.blocks)))

    def place(self, tensors: Sequence[tuple[str, int]]) -> tuple[TracedArgument, ...]:
        """Return the places of tensors (name, bytes) in the model's global memory: multiples of 512, plus ``offsets``.

        Raises ArgumentError if ``offsets`` has a name that no tensor has.
        """
        names = [name for name, _ in tensors]
        for name in self.offsets:
            if name not in names:
                raise ArgumentError(f"Tracing: no tensor '{name}' to move", hint=f"tensors: {', '.join(names)}")
        placed, at = [], FIRST_ADDRESS
        for name, size in tensors:
            address = at + self.offsets.get(name, 0)
            placed.append(TracedArgument(name, address, size))
            at = -(-(address + size + 1) // LINE_BYTES) * LINE_BYTES
        return tuple(placed)
