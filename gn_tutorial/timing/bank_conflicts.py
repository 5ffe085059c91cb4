"""Computes how many cycles a vector instruction needs to move data, from its operands' addresses in the Unified Buffer.

The Unified Buffer has 48 banks of 128 rows of 32 bytes, in 16 bank groups of 3. An address has, from its high bits to
its low bits, 2 bits for the bank in its group, 7 for the row, 4 for the group and 5 for the byte. In one cycle a group
serves one row to one reader, and a bank is either read or written (Ascend C guide, "avoiding bank conflicts" on 2201).
So

- reading a repeat takes one cycle for each row that the busiest group has to serve. The rows of all sources count, but
  a row that one source reads several times counts once. Writing is counted in the same way;
- a repeat is written ``latency`` cycles after it was read, while later repeats are being read. If a read and a write
  need the same bank, they take turns.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from gn_tutorial.abi.trace import Access, Event, Operand, Space

_BLOCK = 32
_REPEAT = 256
_GROUPS = 16
_ROW_SHIFT = 5
_BANK_SHIFT = 16


class AccessStream(NamedTuple):
    """The addresses that one operand uses. A repeat has ``blocks`` blocks of 32 bytes.

    at: the first byte's address in the Unified Buffer. blk, rep: distances between two blocks of a repeat and between
    two repeats, in blocks.
    """

    at: int
    blocks: int
    blk: int
    rep: int


def streams(event: Event) -> tuple[tuple[AccessStream, ...], tuple[AccessStream, ...]]:
    """Return the sources and the destinations that a vector event reads or writes in every repeat.

    An operand of only a few elements, such as the result of a reduction, is left out, because it does not conflict in
    every repeat.
    """
    found = [(operand.access, _stream(event, operand)) for operand in event.operands if operand.space is Space.UB]
    sources = tuple(one for access, one in found if one is not None and access is not Access.WRITE)
    targets = tuple(one for access, one in found if one is not None and access is not Access.READ)
    return sources, targets


def _stream(event: Event, operand: Operand) -> AccessStream | None:
    lanes = _REPEAT // max(event.element_bytes, 1)
    step = lanes * operand.element_bytes  # bytes of this operand in a whole repeat
    if operand.strided:
        active = lanes if event.per_repeat == 0 or event.mask is not None else min(event.first or event.last, lanes)
        blocks = max(-(-active * operand.element_bytes // _BLOCK), 1)
        return _without_row(AccessStream(operand.at, blocks, operand.blk_stride, operand.rep_stride), event.repeats)
    if operand.bytes <= step * (event.repeats - 1):
        return None
    blocks = max(-(-min(step, operand.bytes) // _BLOCK), 1)
    return _without_row(AccessStream(operand.at, blocks, 1, max(step // _BLOCK, 1)), event.repeats)


def _without_row(stream: AccessStream, repeats: int) -> AccessStream:
    """Return the stream moved to the first row of its banks; unchanged if it continues in the next bank of a group.

    The row does not affect the cycles. With fewer different streams, the cache of ``data_cycles`` hits more often.
    """
    blocks = (repeats - 1) * stream.rep + (stream.blocks - 1) * stream.blk + 1
    if stream.at >> _BANK_SHIFT != (stream.at + blocks * _BLOCK - 1) >> _BANK_SHIFT:
        return stream
    return stream._replace(at=stream.at >> _BANK_SHIFT << _BANK_SHIFT | stream.at % (_GROUPS * _BLOCK))


@functools.lru_cache(maxsize=4096)
def data_cycles(
    sources: tuple[AccessStream, ...], targets: tuple[AccessStream, ...], repeats: int, latency: int
) -> int:
    """Return the cycles from the first read to the last write, less ``latency``; ``repeats`` if nothing conflicts."""
    reads: list[tuple[int, ...]] = [_steps(sources, repeat) for repeat in range(repeats)]
    writes: list[tuple[int, ...]] = [_steps(targets, repeat) for repeat in range(repeats)]
    return _take_turns(reads, writes, latency) - latency


def _steps(operands: tuple[AccessStream, ...], repeat: int) -> tuple[int, ...]:
    """Return, for each cycle of one repeat, the banks that it needs, as a bit mask. Readers of a group take turns."""
    rows: list[list[int]] = [[] for _ in range(_GROUPS)]
    per_operand = []
    for operand in operands:
        start = operand.at + repeat * operand.rep * _BLOCK
        blocks = {(start >> _ROW_SHIFT) + index * operand.blk for index in range(operand.blocks)}
        banks = 0
        for block in blocks:
            group = block % _GROUPS
            bank = 1 << ((block >> (_BANK_SHIFT - _ROW_SHIFT)) * _GROUPS + group)
            rows[group].append(bank)
            banks |= bank
        per_operand.append(banks)
    cycles = max(len(group) for group in rows) or 1
    if cycles == 1:
        together = 0
        for banks in per_operand:
            together |= banks
        return (together,)
    if cycles == len(per_operand):
        return tuple(per_operand)
    steps = [0] * cycles
    for group in rows:
        for index, bank in enumerate(group):
            steps[index] |= bank
    return tuple(steps)


def _take_turns(reads: list[tuple[int, ...]], writes: list[tuple[int, ...]], latency: int) -> int:
    """Simulate the reads in order, and the writes of each repeat ``latency`` cycles later. Return the cycles.

    reads, writes: the result of ``_steps`` for each repeat. If a read and a write need the same bank, they take turns.
    """
    cycle = read = read_step = written = write_step = 0
    count = len(reads)
    ready: list[int] = []
    read_first = True
    while written < count:
        wanted = reads[read][read_step] if read < count else 0
        due = written < len(ready) and ready[written] <= cycle
        if due and read < count and wanted & writes[written][write_step]:
            reads_now, writes_now = read_first, not read_first
            read_first = not read_first
        else:
            reads_now, writes_now = read < count, due
        if reads_now:
            read_step += 1
            if read_step == len(reads[read]):
                ready.append(cycle + latency)
                read, read_step = read + 1, 0
        if writes_now:
            write_step += 1
            if write_step == len(writes[written]):
                written, write_step = written + 1, 0
        cycle += 1
    return cycle
