"""Finds where each element of an operand lies, and which source elements an element of the result is made of.

This module does for the events of a trace what ``events/footprint.h`` does in the twin. Elements are counted in the
order in which the instruction takes them.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from gn_tutorial.abi.trace import Access, Event, Flow, Kind, Operand

_BLOCK = 32
#: Prefixes of instructions that make a result for each block of 32 bytes, or each pair of elements, of a repeat.
_PARTS = ("Block", "Pair")


class Run(NamedTuple):
    """A range of bytes without gaps. ``first`` is the number of its first element."""

    at: int
    bytes: int
    first: int


@functools.lru_cache(maxsize=4096)
def runs(event: Event, operand: Operand) -> tuple[Run, ...]:
    """Return the ranges of bytes that the operand covers, in the order of the instruction."""
    found: list[Run] = []
    first = 0
    for at, size in _pieces(event, operand):
        found.append(Run(at, size, first))
        first += size // operand.element_bytes
    return tuple(found)


def _pieces(event: Event, operand: Operand) -> list[tuple[int, int]]:
    if operand.pieces:
        return [(operand.at + piece, operand.row_bytes) for piece in operand.pieces]
    if operand.strided and event.per_repeat:
        return _strided(event, operand)
    if not operand.row_bytes:
        return [(operand.at, operand.bytes)]
    return [(operand.at + row * operand.row_pitch, operand.row_bytes) for row in range(operand.rows)]


def _strided(event: Event, operand: Operand) -> list[tuple[int, int]]:
    size = operand.element_bytes
    per_block = _BLOCK // size
    found = []
    for repeat in range(event.repeats):
        start = operand.at + repeat * operand.rep_stride * _BLOCK
        lanes = event.per_repeat if event.mask is not None else event.first
        if event.mask is None and repeat + 1 == event.repeats:
            lanes = event.last
        for lane in range(0, lanes, per_block):
            block = start + lane // per_block * operand.blk_stride * _BLOCK
            here = min(per_block, lanes - lane)
            if event.mask is None:
                found.append((block, here * size))
            else:
                found += [(block + i * size, size) for i in range(here) if event.mask >> (lane + i) & 1]
    return found


def element_at(event: Event, operand: Operand, address: int) -> int | None:
    """Return the number of the element that has this byte; None if the operand does not have it."""
    if not operand.at <= address < operand.at + operand.bytes:
        return None
    for run in runs(event, operand):
        if run.at <= address < run.at + run.bytes:
            return run.first + (address - run.at) // operand.element_bytes
    return None


def address_of(event: Event, operand: Operand, element: int) -> int | None:
    """Return the address of an element; None if the operand has fewer elements."""
    for run in runs(event, operand):
        if element < run.first + run.bytes // operand.element_bytes:
            return run.at + (element - run.first) * operand.element_bytes
    return None


@functools.lru_cache(maxsize=256)
def addresses(event: Event, operand: Operand) -> np.ndarray:
    """Return the address of each element of the operand, in the order of the instruction."""
    size = operand.element_bytes
    parts = [np.arange(run.at, run.at + run.bytes, size) for run in runs(event, operand)]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def count(event: Event, operand: Operand) -> int:
    """Return the number of elements of the operand."""
    every = runs(event, operand)
    return every[-1].first + every[-1].bytes // operand.element_bytes if every else 0


def behind(event: Event, written: Operand, element: int, source: Operand) -> range:
    """Return the elements of a source that an element of the result depends on.

    If it is unknown which, return all of them. For padding, which has no source, return an empty range.
    """
    many = count(event, source)
    if event.kind == Kind.COPY:
        return _copied(event, written, element, source)
    if written.access == Access.READ_WRITE:
        return range(many)
    if event.flow == Flow.FOLD:
        return _folded(event, written, element, source)
    if many == 1:
        return range(1)
    if event.op == "Brcb":
        at = element // (_BLOCK // written.element_bytes)
        return range(at, at + 1)
    if event.flow == Flow.MOVES and many != count(event, written):
        return range(many)
    if (bit := bit_of(event, written, element, source)) is not None:
        at = bit // (8 * source.element_bytes)
        return range(at, at + 1)
    return range(element, element + 1) if element < many else range(many)


def bit_of(event: Event, written: Operand, element: int, source: Operand) -> int | None:
    """Return the bit of a source that decides an element of the result; None if the source has an element for each."""
    many = count(event, source)
    if event.flow != Flow.LANES or source.floats or not 0 < many < count(event, written):
        return None
    return element % (many * 8 * source.element_bytes)  # as in the mask of a Select


def _copied(event: Event, written: Operand, element: int, source: Operand) -> range:
    """Return the source element of an element that a copy wrote; an empty range if it is padding behind a row."""
    from_rows = max(source.row_bytes, 1)
    if count(event, written) != count(event, source) and written.rows == source.rows and written.row_bytes:
        row, at = divmod(element * written.element_bytes, written.row_bytes)
        if at >= from_rows:
            return range(0)
        element = (row * from_rows + at) // source.element_bytes
    return range(element, element + 1)


def _folded(event: Event, written: Operand, element: int, source: Operand) -> range:
    """Return the elements that a reduction folds into one: lanes of one repeat if each repeat has results, else all."""
    many, results = count(event, source), count(event, written)
    if results % max(event.repeats, 1) or not results:
        return range(many)
    each = results // event.repeats
    row, at = divmod(element, each)
    lanes = event.first if event.mask is None else event.mask.bit_count()
    begin, end = row * lanes, min((row + 1) * lanes, many)
    if event.op.startswith(_PARTS):
        part = -(-lanes // each)
        begin, end = begin + at * part, min(begin + (at + 1) * part, end)
    return range(begin, end)
