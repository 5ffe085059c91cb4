"""What a traced launch did, as data: the events that the twin recorded, and how they are asked for.

The slots are those of ``twin/include/gn_twin/trace.h``; ``tests/test_trace.py`` checks that both sides agree.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from gn_tutorial.errors import ArgumentError, KernelError

#: Bytes of global memory that the L2 cache holds or drops as one: the line of trace.h.
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
    """What an event is: ``enum class Kind`` of event.h, and SCALARS, a run of scalar accesses."""

    VECTOR = 0
    COPY = 1
    SCALAR = 2
    SET_FLAG = 3
    WAIT_FLAG = 4
    BARRIER = 5
    MEET = 6
    INIT_BUFFER = 7
    ALLOC = 8
    ENQUE = 9
    DEQUE = 10
    FREE = 11
    SCALARS = 12


class Space(IntEnum):
    """Where an operand lies: the Unified Buffer of the core, or global memory."""

    UB = 0
    GM = 1


class Access(IntEnum):
    """What happens to an operand."""

    READ = 0
    WRITE = 1
    READ_WRITE = 2


class Operand(NamedTuple):
    """One operand of one event. ``Operand`` of event.h says how the fields of the layout read.

    at: byte address: from the start of the Unified Buffer, or in the model's global memory, where every argument starts
    at a multiple of 512 bytes unless the caller asked otherwise. lines: 512-byte lines of global memory touched, each
    row on its own; cold of them had not been touched before in the launch, and the one of the others that had waited
    longest was touched ``reuse_lines`` lines of the block's own traffic ago. cold_blocks: blocks of 32 bytes of it that
    nothing had touched before, so that two bursts that share a line are cold for half each. cached: False past the
    L2 cache.
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


class Event(NamedTuple):
    """One operation of one block, or (SCALARS) a run of scalar accesses that share a source line.

    pipe: the queue it runs in. flag, event_id: of flags: "MTE2_V" is raised by MTE2 and waited for by V. repeats and
    element_bytes: of vector instructions. lanes: elements processed, for SCALARS the number of accesses. per_repeat,
    first, last, mask: the active lanes as ``ActiveLanes`` of event.h has them (mask None: the leading ones). changes:
    for SCALARS, how often an access left the 64-byte line of the one before.
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
    missing. arguments: the tensors. lines: counts over all blocks.
    """

    blocks: Mapping[int, tuple[Event, ...]]
    launched: int
    complete: bool
    arguments: tuple[TracedArgument, ...]
    lines: Lines

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
    trace; 64 bytes for each event and each of its operands.

    Raises ArgumentError for a number that cannot be.
    """

    blocks: int | Sequence[int] = 8
    offsets: Mapping[str, int] = field(default_factory=dict)
    bytes: int = 256 * _MIB

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


def _slot(fields: str) -> np.dtype:
    return np.dtype([tuple(one.split(":")) for one in fields.split()])


_EVENT = _slot(
    "slot:u1 kind:u1 pipe:u1 operands:u1 element_bytes:u1 hard_event:u1 event_id:i1 prefix:u1 per_repeat:u2 first:u2 "
    "last:u2 repeats:u2 op:u2 file:u2 line:u4 block:u4 unused:u4 low:u8 high:u8 lanes:u8 unused2:u8"
)
_OPERAND = _slot(
    "slot:u1 space:u1 access:u1 element_bytes:u1 strided:u1 cached:u1 role:u2 argument:u2 blk_stride:u2 rep_stride:u2 "
    "unused:u2 rows:u4 lines:u4 at:u8 bytes:u8 row_bytes:u8 row_pitch:u4 cold:u4 reuse_lines:u4 cold_blocks:u4"
)
_SCALARS = _slot(
    "slot:u1 space:u1 access:u1 bytes:u1 file:u2 argument:u2 line:u4 block:u4 count:u8 begin:u8 end:u8 changes:u8 "
    "unused:u8 unused2:u8"
)
_TEXT = _slot("slot:u1 continues:u1 number:u2 unused:u4 text:S56")
_EVENT_SLOT, _OPERAND_SLOT, _SCALARS_SLOT, _TEXT_SLOT = range(1, 5)
_NO_ARGUMENT = 0xFFFF

#: ``enum class HardEvent`` of constants.h.
HARD_EVENTS = (
    "MTE2_MTE1 MTE1_MTE2 MTE1_M M_MTE1 MTE2_V V_MTE2 MTE3_V V_MTE3 M_V V_M V_V MTE3_MTE1 MTE1_MTE3 MTE1_V MTE2_M "
    "M_MTE2 V_MTE1 M_FIX FIX_M MTE3_MTE2 MTE2_MTE3 S_V V_S S_MTE2 MTE2_S S_MTE3 MTE3_S MTE2_FIX FIX_MTE2 FIX_S M_S "
    "FIX_MTE3 MTE1_FIX FIX_MTE1 FIX_FIX"
).split()


def decode(
    slots: bytes | memoryview, *, names: Sequence[str], launched: int, chosen: Sequence[int], **rest: object
) -> Trace:
    """The trace that a launch left in its slots. names: of all arguments. ``rest``: the remaining fields of Trace.

    Raises KernelError for slots that no trace has: a kernel without bounds may have written over them.
    """
    collecting = gc.isenabled()
    gc.disable()  # a million new tuples and no garbage: looking for some would take most of the time
    try:
        blocks = _Decoder(slots, names).blocks(chosen)
    except (IndexError, KeyError, ValueError) as error:
        raise KernelError(
            "the trace cannot be read: the kernel overwrote it", hint="run without a trace first: checks name the place"
        ) from error
    finally:
        if collecting:
            gc.enable()
    return Trace(blocks=blocks, launched=launched, **rest)


class _Decoder:
    """Reads slots column by column: NumPy turns each field of all events into Python numbers at once."""

    def __init__(self, slots: bytes | memoryview, arguments: Sequence[str]) -> None:
        raw = np.frombuffer(slots, np.uint8).reshape(-1, _SLOT_BYTES)
        self._kinds = raw[:, 0]
        if self._kinds.size and not 1 <= self._kinds.min() <= self._kinds.max() <= _TEXT_SLOT:
            raise ValueError("an unknown slot")
        self._raw, self._arguments = raw, arguments
        self._texts = self._read_texts()

    def blocks(self, chosen: Sequence[int]) -> dict[int, tuple[Event, ...]]:
        found: dict[int, list[Event]] = {block: [] for block in chosen}
        events, scalars = self._events(self._operands()), self._scalars()
        # Slots of both kinds are in program order; their places say how they alternate.
        places = np.concatenate([self._places(_EVENT_SLOT), self._places(_SCALARS_SLOT)])
        both = events + scalars
        for index in np.argsort(places, kind="stable").tolist():
            event = both[index]
            found[event.block].append(event)
        return {block: tuple(events) for block, events in found.items()}

    def _places(self, kind: int) -> np.ndarray:
        return np.flatnonzero(self._kinds == kind)

    def _rows(self, kind: int, dtype: np.dtype) -> list[tuple]:
        return np.ascontiguousarray(self._raw[self._kinds == kind]).view(dtype).reshape(-1).tolist()

    def _read_texts(self) -> dict[int, str]:
        parts: dict[int, bytes] = {0: b"?"}
        for _, _, number, _, text in self._rows(_TEXT_SLOT, _TEXT):
            parts[number] = parts.get(number, b"") + text
        return {number: text.decode("utf-8", "replace") for number, text in parts.items()}

    # Positional, since there may be a million of them: fields by name take twice as long.

    def _operands(self) -> list[Operand]:
        spaces, accesses, texts = list(Space), list(Access), self._texts
        arguments = {_NO_ARGUMENT: "", **dict(enumerate(self._arguments))}
        return [
            Operand(
                texts[role], spaces[space], accesses[access], arguments[argument], at, size, element_bytes,
                bool(strided), blk, rep, rows, row_bytes, row_pitch, bool(cached), lines, cold, reuse, blocks,
            )
            for (
                _, space, access, element_bytes, strided, cached, role, argument, blk, rep, _,
                rows, lines, at, size, row_bytes, row_pitch, cold, reuse, blocks,
            ) in self._rows(_OPERAND_SLOT, _OPERAND)
        ]  # fmt: skip

    def _events(self, operands: list[Operand]) -> list[Event]:
        kinds, pipes, texts = list(Kind), list(Pipe), self._texts
        flags = dict(enumerate(HARD_EVENTS))
        found, taken = [], 0
        for (
            _, kind, pipe, has, element_bytes, hard_event, event_id, prefix, per_repeat, first, last,
            repeats, op, file, line, block, _, low, high, lanes, _,
        ) in self._rows(_EVENT_SLOT, _EVENT):  # fmt: skip
            event = Event(
                kinds[kind], pipes[pipe], texts[op], texts[file], line, block, repeats, element_bytes, lanes,
                per_repeat, first, last, None if prefix else low | high << 64, flags.get(hard_event, ""), event_id,
                tuple(operands[taken : taken + has]), 0,
            )  # fmt: skip
            taken += has
            found.append(event)
        return found

    def _scalars(self) -> list[Event]:
        spaces, accesses, found = list(Space), list(Access), []
        for row in self._rows(_SCALARS_SLOT, _SCALARS):
            _, space, access, size, file, argument, line, block, count, begin, end, changes, *_ = row
            operand = _ELEMENT._replace(
                space=spaces[space],
                access=accesses[access],
                argument=self._argument(argument),
                at=begin,
                bytes=end - begin,
                element_bytes=size,
            )
            event = _SCALAR_EVENT._replace(
                op=_SCALAR_OPS[accesses[access]],
                file=self._texts[file],
                line=line,
                block=block,
                element_bytes=size,
                lanes=count,
                operands=(operand,),
                changes=changes,
            )
            found.append(event)
        return found

    def _argument(self, index: int) -> str:
        return "" if index == _NO_ARGUMENT else self._arguments[index]


_SCALAR_OPS = {Access.READ: "GetValue", Access.WRITE: "SetValue", Access.READ_WRITE: "operator()"}
# What every run of scalar accesses has in common.
_ELEMENT = Operand("element", Space.UB, Access.READ, "", 0, 0, 0, False, 1, 8, 1, 0, 0, True, 0, 0, 0, 0)
_SCALAR_EVENT = Event(Kind.SCALARS, Pipe.S, "", "", 0, 0, 0, 0, 0, 0, 0, 0, None, "", -1, (), 0)
