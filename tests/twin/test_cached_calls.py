"""Cached calls: the checkers find the same when they recheck a call as when they see its whole event."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from steps_support import told
from thoroughness import examples
from twin_support import FAMILIES

import gn_tutorial as gnt

# What a step does.
ADD, MULS, FILL, HALVES, LOAD, STORE, FROM_V, TO_V, ALL, GET, PUT, ALLOC, FREE, INTO, OUT_OF, BARRIER = range(16)
REPEATED, BITS, FILL_REPEATED, SUM, SUMS, SUMS_OF_EIGHT, REPEATED_INTO, SHORT, SHORT_REPEATED = range(16, 25)
SPREAD, MOVE, LARGEST, LARGER, CHOOSE, INDICES, MOVE_ROWS, SHORT_INDICES, LARGEST_BY = range(25, 34)
STRIDED, GATHER, SET_OFFSET, SHORT_GATHER, BLOCKS_APART, COUNTED, WIDE, EITHER, MASKED = range(34, 43)
GATHER_OUT_OF, GATHER_ROWS, LANES_INTO, LANES_OUT_OF, BITS_OF = range(43, 48)

places = st.integers(0, 12).map(lambda block: 32 * block)
lengths = st.one_of(st.sampled_from([1, 8, 12, 64, 100, 191, 256, 383, 513]), st.integers(1, 108))
steps = st.tuples(st.integers(0, 47), places, places, places, lengths)


@pytest.fixture(scope="module")
def again() -> gnt.Kernel:
    return gnt.kernel(FAMILIES / "steps.cpp")


WAIT = (ALL, 0, 0, 0, 1)


def learned(first: list) -> list:
    """Steps often enough that their calls are known, each of them finished before the next begins."""
    return [one for _ in range(3) for step in first for one in (step, WAIT)]


def followed(first: list, then: list) -> list:
    """The same, and ``then``: steps of its own and, by number, some of ``first``."""
    return learned(first) + [first[one % len(first)] if isinstance(one, int) else one for one in then]


SUMMED = [(FILL, 0, 0, 0, 8), (FILL, 384, 0, 0, 8), (SUM, 384, 0, 64, 8), (STORE, 384, 0, 0, 8)]
# Three repeats of 64 lanes, each with its own second source (383) or all with the same one (191).
REPEATED_ADD = [(FILL, 0, 0, 0, 256), (REPEATED, 384, 0, 0, 383), (STORE, 384, 0, 0, 192)]
SHARED_ADD = [(FILL, 0, 0, 0, 192), (FILL, 256, 0, 0, 64), (REPEATED, 512, 0, 256, 191), (STORE, 512, 0, 0, 192)]
MOVED = [(FILL, 0, 0, 0, 64), (MOVE, 256, 0, 0, 64), (STORE, 256, 0, 0, 64)]
LARGEST_OF = [(FILL, 0, 0, 0, 256), (FILL, 512, 0, 0, 8), (LARGEST, 512, 0, 256, 191), (STORE, 512, 0, 0, 8)]
# Three repeats one after the other.
STRIDED_ADD = [(FILL, 0, 0, 0, 192), (STRIDED, 512, 0, 0, 4 * 13 + 2), (STORE, 512, 0, 0, 192)]
BLOCKS_ADDED = [(FILL, 0, 0, 0, 32), (BLOCKS_APART, 512, 0, 0, 4 * 13), (STORE, 512, 0, 0, 32)]
ROWS_MOVED = [(FILL, 0, 0, 0, 64), (MOVE_ROWS, 512, 0, 0, 10)]
GATHERED = [(FILL, 0, 0, 0, 256), (GATHER, 512, 64, 0, 63), (STORE, 512, 0, 0, 64)]
GATHERED_SUM = [(FILL, 0, 0, 0, 64), (ADD, 256, 0, 0, 64), (GATHER, 512, 256, 0, 63)]
GATHERED_FROM_QUEUE = [(FILL, 0, 0, 0, 64), (ALLOC, 0, 0, 0, 1), (INTO, 0, 0, 0, 64), (GATHER_OUT_OF, 512, 0, 0, 63)]
# 50 of 64 lanes in three repeats; blocks 0, 2, 4 and 6 of the sources; the same blocks of the destination.
LANES_ADDED = [(FILL, 0, 0, 0, 192), (REPEATED, 512, 0, 0, 64 + 49)]
FROM_BLOCKS = [*((FILL, at, 0, 0, 8) for at in (0, 16, 32, 48)), (BLOCKS_APART, 512, 0, 0, 4 * 25)]
TO_BLOCKS = [(FILL, 0, 0, 0, 32), (BLOCKS_APART, 512, 0, 0, 4 * 14)]
MANY_TO_BLOCKS = [(FILL, 0, 0, 0, 32), *((BLOCKS_APART, 256 + 64 * i, 0, 0, 4 * 14) for i in range(12))]
# Rows that are added to one at the same line.
SUM_OF_ROWS = [(FILL, 0, 0, 0, 256), *((ADD, 512, 0 if row == 0 else 512, 64 * row, 64) for row in range(3))]
# Lanes 0 and 2 of two repeats, each time to memory that a constant fills.
BITS_ADDED = [(FILL, 0, 0, 0, 128), (FILL, 640, 0, 0, 128), (BITS_OF, 640, 0, 0, 1), (STORE, 656, 0, 0, 8)]
SOME_BITS = [(FILL, 0, 0, 0, 128), (BITS_OF, 640, 0, 0, 1), (STORE, 0, 0, 0, 8)]
SOME_BLOCKS = [(FILL, 0, 0, 0, 128), (BITS_OF, 640, 0, 0, 0xFF05 // 5)]  # and lanes 8 to 15
LANES_IN_QUEUE = [(FILL, 0, 0, 0, 128), (ALLOC, 0, 0, 0, 1), (LANES_INTO, 0, 0, 0, 1), (LANES_OUT_OF, 512, 0, 0, 11)]
FEW_LANES_IN_QUEUE = [*LANES_IN_QUEUE[:3], (LANES_OUT_OF, 512, 0, 0, 5)]  # no whole block
ADDED = [(FILL, 0, 0, 0, 64), (ADD, 256, 0, 0, 64), (STORE, 256, 0, 0, 64)]


@settings(max_examples=examples(250), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(steps, min_size=1, max_size=6),
    st.lists(st.one_of(st.integers(0, 5), st.just(WAIT), steps), max_size=8),
    st.integers(1, 2),
    st.sampled_from(["on", "off"]),
)
# Results that another call writes over, unread; a copy that an instruction does not wait for, and the other way round.
@example(ADDED, [1, (MULS, 256, 0, 0, 64)], 1, "on")
@example([*ADDED, (LOAD, 0, 0, 0, 64)], [3, 1], 1, "on")
@example([*ADDED, (LOAD, 0, 0, 0, 64)], [1, 2], 2, "on")
# Memory that is handed out again.
@example([(FILL, 0, 0, 0, 64), (ALLOC, 0, 0, 0, 1), (INTO, 0, 0, 0, 64), (FREE, 0, 0, 0, 1)], [1, 2, 3], 2, "off")
# Lanes that are not all used; the same repeats with more lanes.
@example([(FILL, 0, 0, 0, 128), (BITS, 256, 0, 0, 64)], [1, (STORE, 256, 0, 0, 64)], 1, "on")
@example(SUMMED, [(SUM, 384, 0, 64, 64), 3], 1, "on")
# Scratch memory that is handed out again and then read.
@example(
    [
        (FILL, 0, 0, 0, 191),
        (ALLOC, 0, 0, 0, 1),
        (LARGEST_BY, 512, 0, 0, 191),
        (OUT_OF, 768, 0, 0, 3),
        (FREE, 0, 0, 0, 1),
    ],
    [1, 2, 3, WAIT, (STORE, 768, 0, 0, 3)],
    1,
    "on",
)
# The same place with more of it, other strides, another kind of source.
@example([(FILL, 0, 0, 0, 256), (MOVE, 512, 0, 0, 8)], [(MOVE, 512, 0, 0, 64), WAIT, (STORE, 512, 0, 0, 64)], 1, "on")
@example([(FILL, 0, 0, 0, 256), (INDICES, 512, 0, 0, 8)], [(INDICES, 512, 0, 0, 64), (STORE, 512, 0, 0, 64)], 1, "on")
@example([(FILL, 0, 0, 0, 8), (SPREAD, 512, 0, 0, 3)], [(SPREAD, 512, 0, 0, 5), WAIT, (STORE, 512, 0, 0, 192)], 1, "on")
@example(LARGEST_OF, [(LARGEST, 512, 0, 256, 383), WAIT, 3], 1, "on")
@example([(FILL, 0, 0, 0, 192), (REPEATED, 384, 0, 0, 191)], [(REPEATED, 384, 32, 0, 62), 1, (REPEATED, 384, 0, 0, 62),
         (STORE, 384, 0, 0, 192)], 1, "on")  # fmt: skip
@example(STRIDED_ADD, [(STRIDED, 512, 0, 0, 4 * 14 + 2), WAIT, (STORE, 640, 0, 0, 256)], 1, "on")
@example(STRIDED_ADD, [(STRIDED, 512, 0, 0, 4 * 16 + 2)], 1, "on")
@example(STRIDED_ADD, [(STRIDED, 512, 0, 0, 4 * 22 + 2)], 1, "on")
@example(STRIDED_ADD, [(STRIDED, 512, 0, 0, 4 * 13 + 3)], 1, "on")
@example(BLOCKS_ADDED, [(BLOCKS_APART, 512, 0, 0, 4 * 14), WAIT, (STORE, 512, 0, 0, 32)], 1, "on")
@example(BLOCKS_ADDED, [(BLOCKS_APART, 512, 0, 0, 4 * 16), WAIT, 2], 1, "on")
@example(BLOCKS_ADDED, [(BLOCKS_APART, 512, 0, 0, 4 * 22), WAIT, 2], 1, "on")
# A call that fills the mask register before one that uses what is there.
@example([(FILL, 0, 0, 0, 64), (MASKED, 512, 0, 0, 0)], [1, (STORE, 512, 0, 0, 64)], 1, "on")
# Two rows without gaps, then with gaps in the source or in the destination, then three rows.
@example(ROWS_MOVED, [(MOVE_ROWS, 512, 0, 0, 25), WAIT, (STORE, 512, 0, 0, 64)], 1, "on")
@example(ROWS_MOVED, [(MOVE_ROWS, 512, 0, 0, 4), WAIT, (STORE, 608, 0, 0, 32)], 1, "on")
@example(ROWS_MOVED, [(MOVE_ROWS, 512, 0, 0, 20), WAIT, (STORE, 512, 0, 0, 96)], 1, "on")
# Other offsets, more of them, another place in the table.
@example(GATHERED, [(SET_OFFSET, 3, 160, 0, 1), 1, (LOAD, 224, 0, 0, 8)], 1, "on")
@example(GATHERED, [(SET_OFFSET, 3, 1000, 0, 1), 1], 1, "on")
@example(GATHERED, [(GATHER, 512, 64, 0, 64), (LOAD, 128, 0, 0, 8)], 1, "on")
@example(GATHERED, [(GATHER, 512, 64, 0, 63 + 128), (LOAD, 128, 0, 0, 8)], 1, "on")
@example(GATHERED, [(GATHER, 512, 64, 0, 64 + 128), 1, (LOAD, 128, 0, 0, 8)], 1, "off")
# Two gathers with the same offsets, and a third one with others.
@example([*GATHERED, (GATHER, 768, 64, 0, 63)], [1, 3, (SET_OFFSET, 1, 8, 0, 1), 1, 3], 2, "on")
# Gaps: other lanes at the same place; what another call fills; vector instructions that wait for each other, or do not.
@example(LANES_ADDED, [(REPEATED, 512, 0, 0, 64 + 50), 1, WAIT, (STORE, 512, 0, 0, 48)], 1, "on")
@example(LANES_ADDED, [(MULS, 560, 0, 0, 8), 1, WAIT, (STORE, 512, 0, 0, 56)], 1, "on")
@example(TO_BLOCKS, [1, (MULS, 512, 0, 0, 64), 1, (MULS, 512, 0, 0, 64)], 1, "off")
@example(FROM_BLOCKS, [4, (LOAD, 8, 0, 0, 8), 4, (LOAD, 16, 0, 0, 8), 4], 2, "on")
@example(SOME_BITS, [(PUT, 641, 0, 0, 1), (PUT, 642, 0, 0, 1), 1, (PUT, 641, 0, 0, 1), (PUT, 642, 0, 0, 1)], 1, "off")
@example(SOME_BITS, [(BITS_OF, 640, 0, 0, 3), 1, WAIT, (STORE, 640, 0, 0, 8)], 2, "on")
@example(LANES_IN_QUEUE, [(FREE, 0, 0, 0, 1), 1, 3, 2, 3, WAIT, (STORE, 512, 0, 0, 12)], 2, "off")
def test_a_call_that_comes_again_is_checked_as_the_first_one(
    again: gnt.Kernel, first: list, then: list, blocks: int, auto_sync: Any
) -> None:
    """``then`` has steps of its own and, by number, some of ``first``, which are known by then: nothing waits there."""
    program = followed(first, then)
    known, full = (told(again, program, blocks=blocks, auto_sync=auto_sync, full=full) for full in (False, True))
    assert known == full


@pytest.mark.parametrize(
    ("first", "then", "expected"),
    [
        (ADDED, [1, (MULS, 256, 0, 0, 64)], "ub-overwritten-unread"),
        ([*ADDED, (LOAD, 0, 0, 0, 64)], [3, 1], "race-read-after-write"),
        (ADDED, [1, 2], "race-read-after-write"),
        ([*SUMMED, (LOAD, 0, 0, 0, 8)], [4, 2], "race-read-after-write"),
        ([*REPEATED_ADD, (LOAD, 0, 0, 0, 64)], [3, 1], "race-read-after-write"),
        ([(FILL, 0, 0, 0, 128), (BITS, 256, 0, 0, 64)], [1, WAIT, (STORE, 256, 0, 0, 64)], "ub-never-written"),
        (SUMMED, [(SUM, 384, 0, 64, 64), WAIT, 3], "ub-never-written"),
        (SHARED_ADD, [(REPEATED, 512, 0, 256, 383), WAIT, 3], "ub-never-written"),
        ([(FILL, 0, 0, 0, 64), (SHORT, 256, 0, 0, 64)], [(SHORT, 256, 0, 0, 32)], "ub-out-of-bounds"),
        ([(FILL, 0, 0, 0, 64), (SHORT_REPEATED, 256, 0, 0, 64)], [(SHORT_REPEATED, 256, 0, 0, 32)], "ub-out-of-bounds"),
        (
            [(FILL, 0, 0, 0, 256), (ALLOC, 0, 0, 0, 1), (REPEATED_INTO, 0, 0, 0, 63)],
            [(FREE, 0, 0, 0, 1), 2],
            "ub-use-of-freed",
        ),
        ([*ADDED, (STORE, 256, 512, 0, 64)], [3, 1], "race-write-after-read"),
        (MOVED, [1, (MULS, 256, 0, 0, 64)], "ub-overwritten-unread"),
        ([*MOVED, (LOAD, 0, 0, 0, 64)], [3, 1], "race-read-after-write"),
        ([*LARGEST_OF, (LOAD, 256, 0, 0, 64)], [4, 2], "race-write-after-write"),
        (LARGEST_OF, [2, (STORE, 256, 0, 0, 3)], "race-read-after-write"),
        # A flag covers only earlier work.
        (ADDED, [1, (FROM_V, 1, 0, 0, 1), 1, 2], "race-read-after-write"),
        ([*GATHERED, (LOAD, 64, 0, 0, 64)], [3, 1], "race-read-after-write"),
        (GATHERED, [1, (LOAD, 64, 0, 0, 8)], "race-write-after-read"),
        (GATHERED, [1, (FROM_V, 0, 0, 0, 1), 1, (LOAD, 120, 0, 0, 8)], "race-write-after-read"),
        (GATHERED, [(SET_OFFSET, 3, 160, 0, 1), 1, (LOAD, 224, 0, 0, 8)], "race-write-after-read"),
        (GATHERED, [(SET_OFFSET, 3, 1000, 0, 1), 1], "gather-offset"),
        ([(FILL, 0, 0, 0, 64), (SHORT_GATHER, 256, 0, 0, 64)], [(SHORT_GATHER, 256, 0, 0, 63)], "gather-offset"),
        ([(FILL, 0, 0, 0, 72), (SHORT_GATHER, 256, 0, 32, 72)], [(SHORT_GATHER, 256, 0, 32, 71)], "gather-offset"),
        # The same place in two ways: an address and 0, an address before it and 28.
        ([(FILL, 0, 0, 0, 72), (SHORT_GATHER, 256, 8, 0, 64)], [(SHORT_GATHER, 256, 1, 28, 71)], "ub-misaligned"),
        (STRIDED_ADD, [(STRIDED, 512, 0, 0, 4 * 13 + 2 + 256)], "mask-in-counter-mode"),
        (GATHERED_FROM_QUEUE, [(FREE, 0, 0, 0, 1), (ALLOC, 0, 0, 0, 1), 3, WAIT, (STORE, 512, 0, 0, 64)], "ub-stale"),
        # 1 and 9 in fields of a word, and 257 and 8, which do not fit there.
        ([(FILL, 0, 0, 0, 64), (WIDE, 512, 0, 9, 1)], [(WIDE, 512, 0, 8, 257)], "ub-out-of-bounds"),
        ([(SHORT_INDICES, 256, 0, 0, 64)], [(SHORT_INDICES, 256, 0, 0, 32)], "ub-out-of-bounds"),
        (LANES_ADDED, [1, (LOAD, 48, 0, 0, 8)], "race-write-after-read"),
        (LANES_ADDED, [1, (FROM_V, 0, 0, 0, 1), 1, (LOAD, 112, 0, 0, 8)], "race-write-after-read"),
        (LANES_ADDED, [1, (LOAD, 688, 0, 0, 8)], "race-write-after-write"),
        ([*LANES_ADDED, (LOAD, 0, 0, 0, 8)], [2, 1], "race-read-after-write"),
        (LANES_ADDED, [1, WAIT, (GET, 562, 0, 0, 1)], "ub-never-written"),
        (FROM_BLOCKS, [4, (LOAD, 16, 0, 0, 8)], "race-write-after-read"),
        (TO_BLOCKS, [1, (LOAD, 528, 0, 0, 8)], "race-write-after-write"),
        # Between the blocks, and all of them: from the first byte to the last as they are.
        (TO_BLOCKS, [1, (MULS, 520, 0, 0, 8), (LOAD, 520, 0, 0, 8)], "race-write-after-write"),
        (TO_BLOCKS, [1, (MULS, 512, 0, 0, 56), (LOAD, 520, 0, 0, 8)], "race-write-after-write"),
        (TO_BLOCKS, [1, WAIT, (STORE, 512, 0, 0, 16)], "ub-never-written"),
        (MANY_TO_BLOCKS, [*range(1, 13), (LOAD, 256 + 16, 0, 0, 8)], "race-write-after-write"),
        (LANES_IN_QUEUE, [(FREE, 0, 0, 0, 1), 1, 3, WAIT, (GET, 512 + 64, 0, 0, 1)], "ub-stale"),
        (LANES_IN_QUEUE, [(FREE, 0, 0, 0, 1), 3], "ub-use-of-freed"),
        (FEW_LANES_IN_QUEUE, [(FREE, 0, 0, 0, 1), 1, 3, WAIT, (GET, 512, 0, 0, 1)], "ub-stale"),
        (SUM_OF_ROWS, [1, 2, 3, (LOAD, 64, 0, 0, 8)], "race-write-after-read"),
        (SUM_OF_ROWS, [1, 2, 3, (LOAD, 128, 0, 0, 8)], "race-write-after-read"),
        (SOME_BITS, [1, WAIT, (GET, 641, 0, 0, 1)], "ub-never-written"),
        (SOME_BITS, [1, (LOAD, 640, 0, 0, 8)], "race-write-after-write"),
        (SOME_BITS, [1, (FROM_V, 0, 0, 0, 1), 1, (LOAD, 704, 0, 0, 8)], "race-write-after-write"),
        (SOME_BITS, [2, 1, (LOAD, 64, 0, 0, 8)], "race-write-after-read"),
        (SOME_BLOCKS, [1, (FROM_V, 0, 0, 0, 1), 1, (LOAD, 648, 0, 0, 8)], "race-write-after-write"),
        ([*BITS_ADDED, (STORE, 704, 0, 0, 8)], [4, 2], "race-write-after-read"),
        (
            [(FILL, 0, 0, 0, 64), (ALLOC, 0, 0, 0, 1), (INTO, 0, 0, 0, 64), (OUT_OF, 512, 0, 0, 64)],
            [(FREE, 0, 0, 0, 1), 2],
            "ub-use-of-freed",
        ),
        (
            [(FILL, 0, 0, 0, 64), (ALLOC, 0, 0, 0, 1), (INTO, 0, 0, 0, 64), (OUT_OF, 512, 0, 0, 64)],
            [(FREE, 0, 0, 0, 1), (ALLOC, 0, 0, 0, 1), 3, WAIT, (STORE, 512, 0, 0, 64)],
            "ub-stale",
        ),
    ],
)
def test_what_a_known_call_does_wrong_is_found(again: gnt.Kernel, first: list, then: list, expected: str) -> None:
    assert expected not in str(told(again, learned(first)))
    assert expected in str(told(again, followed(first, then)))


@pytest.mark.parametrize(
    ("first", "then"),
    [
        # Between and behind what is gathered; all of it, but after a flag.
        (GATHERED, [(SET_OFFSET, 3, 160, 0, 1), 1, (LOAD, 208, 0, 0, 8), (LOAD, 232, 0, 0, 8)]),
        (GATHERED, [1, (LOAD, 128, 0, 0, 64)]),
        # Results that a gather has read.
        (GATHERED_SUM, [1, 2, (MULS, 256, 0, 0, 64)]),
        ([(FILL, 320, 0, 0, 64), *GATHERED_SUM], [(SET_OFFSET, 0, 100, 0, 1), 2, 3, (MULS, 256, 0, 0, 64)]),
        # The same line and places, half and then float.
        ([(FILL, 0, 0, 0, 64), (EITHER, 512, 0, 1, 64)], [(EITHER, 512, 0, 0, 64), WAIT, (STORE, 512, 0, 0, 64)]),
        # Two repeats of 16 lanes, and then one of all lanes before one of 16.
        ([(FILL, 0, 0, 0, 64), (COUNTED, 512, 0, 32, 15)], [(COUNTED, 512, 0, 0, 15), WAIT, (STORE, 512, 0, 0, 64)]),
        # Two rows of a gather with a gap between them.
        (
            [(FILL, 0, 0, 0, 128), (GATHER_ROWS, 512, 0, 0, 0)],
            [(GATHER_ROWS, 512, 0, 0, 1), WAIT, (STORE, 584, 0, 0, 64)],
        ),
        (GATHERED, [1, (FROM_V, 0, 0, 0, 1), (LOAD, 64, 0, 0, 64)]),
        # Blocks that the lanes leave out, before, between and behind them.
        (LANES_ADDED, [1, (LOAD, 56, 0, 0, 8), (LOAD, 184, 0, 0, 8), (LOAD, 568, 0, 0, 8), (LOAD, 704, 0, 0, 8)]),
        ([(FILL, 512, 0, 0, 192), *LANES_ADDED, (STORE, 568, 0, 0, 8)], [3, 2]),
        (FROM_BLOCKS, [4, (LOAD, 8, 0, 0, 8), (LOAD, 24, 0, 0, 8), (LOAD, 56, 0, 0, 8)]),
        (TO_BLOCKS, [1, (LOAD, 520, 0, 0, 8), (LOAD, 568, 0, 0, 8)]),
        (TO_BLOCKS, [1, (BLOCKS_APART, 568, 0, 0, 4 * 14), (LOAD, 520, 0, 0, 8), (LOAD, 576, 0, 0, 8)]),
        (MANY_TO_BLOCKS, [*range(1, 13), (LOAD, 256 + 8, 0, 0, 8), (LOAD, 256 + 64 * 12 - 8, 0, 0, 8)]),
        (SOME_BITS, [1, (LOAD, 648, 0, 0, 8), (LOAD, 8, 0, 0, 8), (LOAD, 712, 0, 0, 8)]),
        (SOME_BITS, [(BITS_OF, 640, 0, 0, 2), WAIT, (GET, 641, 0, 0, 1), (GET, 707, 0, 0, 1)]),
        (BITS_ADDED, [3, 2]),
        # The next row, after a flag that covers the first one.
        (ADDED[:1], [(MULS, 512, 0, 0, 64), (FROM_V, 1, 0, 0, 1), (MULS, 576, 0, 0, 64), (STORE, 512, 0, 0, 64)]),
        # Of memory that is handed out again, values that only a cached call wrote.
        (
            LANES_IN_QUEUE,
            [(FREE, 0, 0, 0, 1), 1, 2, 3, WAIT, *((GET, 512 + at, 0, 0, 1) for at in (0, 11, 64, 75))],
        ),
        # Two repeats to the same place: which of its results were read is not followed.
        ([(FILL, 0, 0, 0, 128), (STRIDED, 512, 0, 0, 4 * 12 + 1)], [1, (MULS, 512, 0, 0, 64)]),
        # Some results are read, or replaced, by a call with gaps.
        (
            [(FILL, 0, 0, 0, 64), (ADD, 256, 0, 0, 64), (BLOCKS_APART, 512, 256, 256, 4 * 25)],
            [1, 2, (MULS, 256, 0, 0, 64)],
        ),
        ([(FILL, 0, 0, 0, 64), (ADD, 512, 0, 0, 64), (BLOCKS_APART, 512, 0, 0, 4 * 14)], [1, 2, (MULS, 512, 0, 0, 64)]),
    ],
)
def test_what_a_known_call_leaves_alone_is_free(again: gnt.Kernel, first: list, then: list) -> None:
    for full in (False, True):
        found, *_ = told(again, followed(first, then), full=full)
        assert found == []


@pytest.mark.parametrize(
    "first",
    [
        # All of it before the flag, then a part of it: that part is not covered by the flag.
        [(MULS, 512, 0, 0, 8), (MULS, 512, 0, 0, 64), (FROM_V, 0, 0, 0, 1), (MULS, 512, 0, 0, 8)],
        # What lies in a gap of what comes later.
        [(MULS, 512, 0, 0, 8), (FROM_V, 1, 0, 0, 1), (BLOCKS_APART, 504, 0, 0, 4 * 14)],
    ],
)
def test_an_access_is_remembered_when_many_others_follow(again: gnt.Kernel, first: list) -> None:
    others = [(FILL, 640 + 16 * i, 0, 0, 8) for i in range(12)]
    for full in (False, True):
        for at, expected in ((512, 1), (512 + 64, 0)):
            found = told(again, [(FILL, 0, 0, 0, 128), WAIT, *first, *others, (LOAD, at, 0, 0, 8)], full=full)
            assert str(found).count("race-write-after-write") == expected
