"""Decode the slots of a trace (``twin/include/gn_twin/trace/slots.h``) into events."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator, Sequence

from gn_tutorial.abi.trace import Access, Event, Flow, Kind, MadeTensor, Operand, Pipe, Space, Trace
from gn_tutorial.errors import KernelError

_SLOT_BYTES = 64

#: The names of ``enum class HardEvent`` of constants.h, in its order.
HARD_EVENTS = (
    "MTE2_MTE1 MTE1_MTE2 MTE1_M M_MTE1 MTE2_V V_MTE2 MTE3_V V_MTE3 M_V V_M V_V MTE3_MTE1 MTE1_MTE3 MTE1_V MTE2_M "
    "M_MTE2 V_MTE1 M_FIX FIX_M MTE3_MTE2 MTE2_MTE3 S_V V_S S_MTE2 MTE2_S S_MTE3 MTE3_S MTE2_FIX FIX_MTE2 FIX_S M_S "
    "FIX_MTE3 MTE1_FIX FIX_MTE1 FIX_FIX"
).split()


#: Type of a field -> its format character in ``struct``.
_CODES = {"u1": "B", "i1": "b", "u2": "H", "u4": "I", "u8": "Q", "S2": "2s", "S56": "56s"}


def _slot(fields: str) -> struct.Struct:
    return struct.Struct("<" + "".join(_CODES[one.partition(":")[2]] for one in fields.split()))


_EVENT = _slot(
    "slot:u1 kind:u1 pipe:u1 operands:u1 element_bytes:u1 hard_event:u1 event_id:i1 prefix:u1 per_repeat:u2 first:u2 "
    "last:u2 repeats:u2 op:u2 file:u2 line:u4 block:u4 flow:u1 atomic:u1 unused:S2 low:u8 high:u8 lanes:u8 "
    "tensor0:u2 tensor1:u2 tensor2:u2 tensor3:u2"
)
_OPERAND = _slot(
    "slot:u1 space:u1 access:u1 element_bytes:u1 strided:u1 cached:u1 role:u2 argument:u2 blk_stride:u2 rep_stride:u2 "
    "floats:u1 in_pieces:u1 rows:u4 lines:u4 at:u8 bytes:u8 row_bytes:u8 row_pitch:u4 cold:u4 reuse_lines:u4 "
    "cold_blocks:u4"
)
_SCALARS = _slot(
    "slot:u1 space:u1 access:u1 bytes:u1 file:u2 argument:u2 line:u4 block:u4 count:u8 begin:u8 end:u8 changes:u8 "
    "floats:u8 unused:u8"
)
_TEXT = _slot("slot:u1 continues:u1 number:u2 unused:u4 text:S56")
_PIECES = struct.Struct("<4x15I")
_TENSOR = struct.Struct("<2x3H2I48x")
#: Of an event: how many operands it has, its block, and the numbers of their tensors.
_TENSORS = struct.Struct("<3xB20xI28x4H")
_Tensors = tuple[MadeTensor | None, ...]
_EVENT_SLOT, _OPERAND_SLOT, _SCALARS_SLOT, _TEXT_SLOT, _PIECES_SLOT, _TENSOR_SLOT = range(1, 7)
_NO_ARGUMENT = 0xFFFF


def decode(
    slots: bytes | memoryview, *, names: Sequence[str], launched: int, chosen: Sequence[int], **rest: object
) -> Trace:
    """Return the trace of a launch from its slots. names: the names of all arguments, in order.

    chosen: the recorded blocks. rest: the other fields of Trace. Raises KernelError for impossible slots, because the
    kernel must have overwritten them.
    """
    try:
        blocks, tensors = _Decoder(slots, names).blocks(chosen)
    except (IndexError, KeyError, ValueError) as error:
        raise KernelError(
            "the trace cannot be read: the kernel overwrote it", hint="run without a trace first: checks name the place"
        ) from error
    return Trace(blocks=blocks, launched=launched, tensors=tensors, **rest)


def _pieces(numbers: Iterator[int], rows: int) -> tuple[int, ...]:
    """Return the next ``rows`` offsets of ``numbers``, and skip the unused places of the slot that has the last one."""
    room = _PIECES.size // 4 - 1
    return tuple(itertools.islice(numbers, -(-rows // room) * room))[:rows]


class _Decoder:
    """Reads slots kind by kind, without NumPy, because the playground would have to download NumPy only for this."""

    def __init__(self, slots: bytes | memoryview, arguments: Sequence[str]) -> None:
        self._slots, self._arguments = memoryview(slots).cast("B"), arguments
        if len(self._slots) % _SLOT_BYTES:
            raise ValueError(f"the trace's size is not a multiple of {_SLOT_BYTES} bytes")
        self._places: dict[int, list[int]] = {kind: [] for kind in range(1, _TENSOR_SLOT + 1)}
        for place, kind in enumerate(self._slots[::_SLOT_BYTES].tobytes()):
            self._places[kind].append(place)
        self._texts = self._read_texts()

    def blocks(self, chosen: Sequence[int]) -> tuple[dict[int, tuple[Event, ...]], dict[tuple[int, int], _Tensors]]:
        """Return the events of each block, and ``Trace.tensors``."""
        found: dict[int, list[Event]] = {block: [] for block in chosen}
        tensors, of_events = dict[tuple[int, int], _Tensors](), dict(self._tensors())
        both = self._events(self._operands()) + self._scalars()
        # Both lists are in program order; the positions of their slots give the order of both together.
        places = self._places[_EVENT_SLOT] + self._places[_SCALARS_SLOT]
        for index in sorted(range(len(both)), key=places.__getitem__):
            event = both[index]
            if index in of_events:
                tensors[event.block, len(found[event.block])] = of_events[index]
            found[event.block].append(event)
        return {block: tuple(events) for block, events in found.items()}, tensors

    def _rows(self, kind: int, fields: struct.Struct) -> Iterator[tuple]:
        slots, unpack = self._slots, fields.unpack_from
        return (unpack(slots, place * _SLOT_BYTES) for place in self._places[kind])

    def _read_texts(self) -> dict[int, str]:
        parts: dict[int, bytes] = {0: b"?"}
        for _, _, number, _, text in self._rows(_TEXT_SLOT, _TEXT):
            parts[number] = parts.get(number, b"") + text.rstrip(b"\0")
        return {number: text.decode("utf-8", "replace") for number, text in parts.items()}

    # ``_operands`` and ``_events`` pass positional arguments: a trace may have a million events, and keyword arguments
    # take twice as long.

    def _operands(self) -> list[Operand]:
        spaces, accesses, texts = list(Space), list(Access), self._texts
        arguments = {_NO_ARGUMENT: "", **dict(enumerate(self._arguments))}
        pieces = itertools.chain.from_iterable(self._rows(_PIECES_SLOT, _PIECES))
        return [
            Operand(
                texts[role], spaces[space], accesses[access], arguments[argument], at, size, element_bytes,
                bool(strided), blk, rep, rows, row_bytes, row_pitch, bool(cached), lines, cold, reuse, blocks,
                bool(floats), _pieces(pieces, rows) if in_pieces else (),
            )
            for (
                _, space, access, element_bytes, strided, cached, role, argument, blk, rep, floats, in_pieces,
                rows, lines, at, size, row_bytes, row_pitch, cold, reuse, blocks,
            ) in self._rows(_OPERAND_SLOT, _OPERAND)
        ]  # fmt: skip

    def _events(self, operands: list[Operand]) -> list[Event]:
        kinds, pipes, flows, texts = list(Kind), list(Pipe), list(Flow), self._texts
        flags = dict(enumerate(HARD_EVENTS))
        found, taken = [], 0
        for (
            _, kind, pipe, has, element_bytes, hard_event, event_id, prefix, per_repeat, first, last,
            repeats, op, file, line, block, flow, atomic, _, low, high, lanes, *_,
        ) in self._rows(_EVENT_SLOT, _EVENT):  # fmt: skip
            event = Event(
                kinds[kind], pipes[pipe], texts[op], texts[file], line, block, repeats, element_bytes, lanes,
                per_repeat, first, last, None if prefix else low | high << 64, flags.get(hard_event, ""), event_id,
                tuple(operands[taken : taken + has]), 0, flows[flow], bool(atomic),
            )  # fmt: skip
            taken += has
            found.append(event)
        return found

    def _tensors(self) -> Iterator[tuple[int, _Tensors]]:
        """Yield the index of each event with a tensor, and its operands' tensors."""
        rows = self._rows(_TENSOR_SLOT, _TENSOR)
        texts, waiting = self._texts, list(zip(self._places[_TENSOR_SLOT], rows, strict=True))[::-1]
        known: dict[tuple[int, int], MadeTensor] = {}
        for index, place in enumerate(self._places[_EVENT_SLOT] if waiting else ()):
            while waiting and waiting[-1][0] < place:
                number, op, file, line, block = waiting.pop()[1]
                known[block, number] = MadeTensor(number, texts[op], texts[file], line)
            has, block, *numbers = _TENSORS.unpack_from(self._slots, place * _SLOT_BYTES)
            if any(numbers):
                yield index, tuple(known.get((block, number)) for number in numbers[:has])

    def _scalars(self) -> list[Event]:
        spaces, accesses, found = list(Space), list(Access), []
        for row in self._rows(_SCALARS_SLOT, _SCALARS):
            _, space, access, size, file, argument, line, block, count, begin, end, changes, floats, _ = row
            operand = _ELEMENT._replace(
                space=spaces[space],
                access=accesses[access],
                argument=self._argument(argument),
                at=begin,
                bytes=end - begin,
                element_bytes=size,
                floats=bool(floats),
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
# The fields that every run of scalar accesses shares.
_ELEMENT = Operand("element", Space.UB, Access.READ, "", 0, 0, 0, False, 1, 8, 1, 0, 0, True, 0, 0, 0, 0)
_SCALAR_EVENT = Event(Kind.SCALARS, Pipe.S, "", "", 0, 0, 0, 0, 0, 0, 0, 0, None, "", -1, (), 0)
