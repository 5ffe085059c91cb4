"""What a traced launch did, as data: the events that the twin recorded, and how they are asked for.

``trace_decode`` makes these out of what ``twin/include/gn_twin/trace/trace.h`` wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from gn_tutorial.errors import ArgumentError

#: Bytes of global memory that the L2 cache holds or drops as one: the line of trace/l2_lines.h.
LINE_BYTES = 512
#: Where the first argument of a traced launch lies in the model's global memory. Any multiple of 512 would do.
FIRST_ADDRESS = 1 << 24
_SLOT_BYTES = 64
_MIB = 1024 * 1024


class Pipe(IntEnum):
    """The queues of one vector core, in the order of the twin; ALL stands for every one of them."""

    S = 0
    V = 1
    MTE2 = 2
    MTE3 = 3
    ALL = 4


class Kind(IntEnum):
    """What an event is: ``enum class Kind`` of event.h (POINTER, PADDING in no trace); SCALARS is a run of accesses."""

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
    POINTER = 16
    PADDING = 17
    SCALARS = 18


class Space(IntEnum):
    """Where an operand lies: the Unified Buffer of the core, or global memory."""

    UB = 0
    GM = 1


class Access(IntEnum):
    """What happens to an operand."""

    READ = 0
    WRITE = 1
    READ_WRITE = 2


class Flow(IntEnum):
    """How the results of an instruction depend on its sources, as ``enum class Flow`` of event.h has it."""

    MOVES = 0
    LANES = 1
    ACCUMULATE = 2
    FOLD = 3


class Operand(NamedTuple):
    """One operand of one event. ``Operand`` of event.h says how the fields of the layout read.

    at: byte address: from the start of the Unified Buffer, or in the model's global memory, where every argument starts
    at a multiple of 512 bytes unless the caller asked otherwise. lines: 512-byte lines of global memory touched, each
    row on its own; cold of them had not been touched before in the launch, and the one of the others that had waited
    longest was touched ``reuse_lines`` lines of the block's own traffic ago. cold_blocks: blocks of 32 bytes of it that
    nothing had touched before, so that two bursts that share a line are cold for half each. cached: False past the
    L2 cache. floats: its elements are floating point numbers. pieces: where each of its rows begins, in bytes from
    ``at``, if they have no pitch and that was asked for.
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


class Event(NamedTuple):
    """One operation of one block, or (SCALARS) a run of scalar accesses that share a source line.

    pipe: the queue it runs in. flag, event_id: of flags: "MTE2_V" is raised by MTE2 and waited for by V. repeats and
    element_bytes: of vector instructions. lanes: elements processed, for SCALARS the number of accesses. per_repeat,
    first, last, mask: the active lanes as ``ActiveLanes`` of event.h has them (mask None: the leading ones). changes:
    for SCALARS, how often an access left the 64-byte line of the one before. flow: of vector instructions. atomic: a
    copy that adds to what is there, or takes the larger or smaller of both.
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


#: Operand of a Watch of scalar accesses, of which the last one counts.
SCALARS = 0xFFFFFFFF


class Watch(NamedTuple):
    """A value that a trace is asked for: what an operand held when its event came, before the instruction computed.

    block: one of those that are recorded. event, operand: numbers, of the block's events and of the event's operands.
    offset: in bytes from the operand's start. Of scalar accesses the operand is SCALARS, and the offset an address.
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
    """How often lines of 512 bytes were touched, over every block of the launch: exact, however few were recorded.

    read: brought in, each time counted; cold of them through the L2 cache and never touched before; bypassed of them
    past the cache. written: each time counted. dirty: different lines written. held: different lines that were read
    through the cache or written. bypassed_bytes: what was read past the cache, in bytes of whole 32-byte blocks.
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

    blocks: recorded events by block. launched: blocks of the launch. complete: False if the room ended and events are
    missing. arguments: the tensors. lines: counts over all blocks. watched: for each Watch that was asked for, the (up
    to eight) bytes that were there; none if the event did not come.
    """

    blocks: Mapping[int, tuple[Event, ...]]
    launched: int
    complete: bool
    arguments: tuple[TracedArgument, ...]
    lines: Lines
    watched: tuple[bytes, ...] = ()

    @property
    def sampled(self) -> bool:
        """Whether some blocks of the launch were not recorded."""
        return len(self.blocks) < self.launched

    def weights(self) -> dict[int, int]:
        """How many blocks of the launch each recorded one stands for: those that no other recorded one is nearer to."""
        known = sorted(self.blocks)
        weights = dict.fromkeys(known, 0)
        for block in self.nearest():
            weights[block] += 1
        return weights

    def nearest(self) -> list[int]:
        """For each block of the launch, the recorded one that is nearest to it; the later one of two."""
        known, place, found = sorted(self.blocks), 0, []
        for block in range(self.launched):
            while place + 1 < len(known) and abs(known[place + 1] - block) <= abs(known[place] - block):
                place += 1
            found.append(known[place])
        return found

    def __repr__(self) -> str:
        """Counts only: no address of this machine."""
        events = sum(len(events) for events in self.blocks.values())
        full = "" if self.complete else ", cut off where the room ended"
        return f"Trace({len(self.blocks)} of {self.launched} blocks, {events:,} events{full})"


@dataclass(frozen=True, kw_only=True)
class Tracing:
    """Ask a launch for a trace.

    blocks: how many blocks to record, spread evenly with the first and the last among them, or which ones. offsets:
    bytes by which an argument starts past a multiple of 512 in the model's global memory, by name. bytes: room for the
    trace; 64 bytes for each event and each of its operands. watches: values to be looked up on the way. pieces: where
    each element that is gathered or scattered lies, too.

    Raises ArgumentError for a number that cannot be.
    """

    blocks: int | Sequence[int] = 8
    offsets: Mapping[str, int] = field(default_factory=dict)
    bytes: int = 256 * _MIB
    watches: Sequence[Watch] = ()
    pieces: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.blocks, int) and self.blocks < 1:
            raise ArgumentError(f"Tracing: blocks cannot be {self.blocks}", hint="at least 1, or a list of blocks")
        if self.bytes < _SLOT_BYTES:
            raise ArgumentError(f"Tracing: bytes cannot be {self.bytes}", hint=f"at least {_SLOT_BYTES}")
        for name, offset in self.offsets.items():
            if offset < 0:
                raise ArgumentError(f"Tracing: the offset of '{name}' cannot be {offset}", hint="0 or more bytes")

    def chosen(self, launched: int) -> tuple[int, ...]:
        """The blocks to record of a launch of that many. Raises ArgumentError for a block that is not launched."""
        if isinstance(self.blocks, int):
            count = min(self.blocks, launched)
            return tuple(sorted({index * (launched - 1) // max(count - 1, 1) for index in range(count)}))
        wrong = [block for block in self.blocks if not 0 <= block < launched]
        if wrong or not self.blocks:
            raise ArgumentError(f"Tracing: no block {wrong[:1] or 'is chosen'}", hint=f"0 to {launched - 1} run")
        return tuple(sorted(set(self.blocks)))

    def place(self, tensors: Sequence[tuple[str, int]]) -> tuple[TracedArgument, ...]:
        """Addresses for tensors of these names and sizes in bytes. Raises ArgumentError for an unknown offset."""
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
