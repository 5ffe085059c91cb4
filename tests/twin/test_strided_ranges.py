"""Rows at a pitch, as the twin's checkers remember what an instruction with strides touches: against sets of bytes."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thoroughness import examples

from gn_tutorial.compiler.build import build_host_library
from gn_tutorial.compiler.build_request import TWIN_INCLUDE

BYTES = 4096
SOURCE = """
#include <stdlib.h>

#include "gn_twin/shadow/ub_state.h"
using namespace gn_twin;

// told: whether the rows have gaps, begin, end, and the first byte that [begin, end) shares with them.
extern "C" __attribute__((visibility("default")))
void rows_of(const uint32_t* n, uint32_t begin, uint32_t end, uint8_t* bytes, uint32_t* told) {
  const StridedRange rows(n[0], n[1], n[2], n[3], n[4], n[5]);
  rows.ForEach([&](LocalRange row) { for (uint32_t i = row.begin; i < row.end; ++i) bytes[i] = 1; });
  told[0] = rows.HasGaps();
  told[1] = rows.range.begin;
  told[2] = rows.range.end;
  told[3] = begin < rows.range.end && rows.range.begin < end ? rows.FirstIn({begin, end}) : end;
}
extern "C" __attribute__((visibility("default")))
bool equal(const uint32_t* n, const uint32_t* m) {
  return StridedRange(n[0], n[1], n[2], n[3], n[4], n[5]) == StridedRange(m[0], m[1], m[2], m[3], m[4], m[5]);
}

static void Set(ByteMasks& masks, const uint32_t* n) {
  const StridedRange rows(n[0], n[1], n[2], n[3], n[4], n[5]);
  if (!masks.Begin(rows.range)) abort();
  rows.ForEach([&](LocalRange row) { if (!masks.Add(row)) abort(); });
}
// Writes the first rows, reads the second ones. told: whether these have all their values; how many blocks are unread
// after the write, and after the read.
extern "C" __attribute__((visibility("default")))
void written_and_read(const uint32_t* n, const uint32_t* m, uint32_t also, uint8_t* bytes, uint32_t* told) {
  static UbState shadow;
  static const bool allocated = shadow.Allocate();
  static ByteMasks write, read;
  if (!allocated) return;
  Set(write, n);
  Set(read, m);
  shadow.Restart();
  shadow.bytes.Set(also, 32);
  shadow.unread.SetAll(0, 4096 / 32);
  shadow.WriteMasked(write);
  for (uint32_t i = 0; i < 4096; ++i) bytes[i] = shadow.bytes.HasAll(i, 1);
  told[1] = told[2] = 0;
  for (uint32_t i = 0; i < 4096 / 32; ++i) told[1] += shadow.unread.Has(i);
  shadow.unread.SetAll(0, 4096 / 32);
  told[0] = shadow.ReadMasked(read);
  for (uint32_t i = 0; i < 4096 / 32; ++i) told[2] += shadow.unread.Has(i);
}
"""

steps = st.one_of(st.sampled_from([0, 32, 64, 96, 256]), st.integers(0, 300))
numbers = st.tuples(st.integers(0, 500), st.integers(1, 100), steps, st.integers(1, 6), steps, st.integers(1, 5))
checked = settings(max_examples=examples(400), deadline=None)


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    return ctypes.CDLL(str(build_host_library(SOURCE, include_dirs=(TWIN_INCLUDE,)).library))


def bytes_of(begin: int, row: int, step: int, rows: int, group_step: int, groups: int) -> set[int]:
    starts = {begin + g * group_step + r * step for g in range(groups) for r in range(rows)}
    return {start + i for start in starts for i in range(row)}


def array(values: tuple[int, ...]) -> ctypes.Array:
    return (ctypes.c_uint32 * len(values))(*values)


def blocks(touched: set[int]) -> set[int]:
    return {byte // 32 for byte in touched}


@checked
@given(numbers, st.integers(0, 3000), st.integers(1, 200))
@example((0, 32, 64, 6, 384, 5), 32, 32)  # the groups go on as the rows do
@example((0, 32, 256, 4, 32, 5), 0, 32)  # groups inside each other, without gaps up to 160
@example((0, 32, 0, 4, 32, 5), 0, 32)  # the same block in every row
@example((0, 100, 50, 3, 200, 5), 0, 32)  # rows that overlap
def test_rows_are_the_bytes_they_stand_for(
    library: ctypes.CDLL, numbers: tuple[int, ...], begin: int, size: int
) -> None:
    found, told = np.zeros(BYTES, np.uint8), array((9,) * 4)
    library.rows_of(array(numbers), begin, begin + size, ctypes.c_void_p(found.ctypes.data), told)
    expected = bytes_of(*numbers)
    assert set(np.flatnonzero(found).tolist()) == expected
    assert (told[1], told[2]) == (min(expected), max(expected) + 1)
    assert told[3] == min(expected & set(range(begin, begin + size)), default=begin + size)
    if len(expected) != told[2] - told[1]:
        assert told[0] == 1


@checked
@given(numbers, numbers, st.integers(0, 2000))
@example((0, 200, 256, 3, 0, 1), (0, 200, 256, 3, 0, 1), 500)  # the lanes of a repeat but the last ones
@example((0, 200, 256, 3, 0, 1), (0, 201, 256, 3, 0, 1), 500)
@example((4, 12, 32, 3, 0, 1), (8, 4, 32, 3, 0, 1), 500)  # inside a block
def test_what_is_written_in_rows_is_there_to_be_read(
    library: ctypes.CDLL, first: tuple[int, ...], second: tuple[int, ...], also: int
) -> None:
    found, told = np.zeros(BYTES, np.uint8), array((9,) * 3)
    library.written_and_read(array(first), array(second), also, ctypes.c_void_p(found.ctypes.data), told)
    written, read = bytes_of(*first), bytes_of(*second)
    holding = written | set(range(also, also + 32))
    assert set(np.flatnonzero(found).tolist()) == holding
    assert tuple(told) == (read <= holding, BYTES // 32 - len(blocks(written)), BYTES // 32 - len(blocks(read)))


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ((0, 32, 64, 6, 384, 5), (0, 32, 64, 30, 0, 1), True),
        ((0, 32, 99, 1, 64, 5), (0, 32, 64, 5, 99, 1), True),
        ((0, 32, 32, 4, 128, 3), (0, 384, 0, 1, 0, 1), True),
        ((0, 32, 64, 3, 0, 9), (0, 32, 64, 3, 256, 1), True),
        ((0, 32, 64, 3, 0, 1), (0, 160, 0, 1, 0, 1), False),
        ((0, 32, 64, 5, 0, 1), (0, 32, 128, 3, 0, 1), False),
        ((0, 32, 64, 2, 320, 2), (0, 32, 64, 7, 0, 1), False),
    ],
)
def test_the_same_rows_are_equal_however_they_were_given(
    library: ctypes.CDLL, first: tuple[int, ...], second: tuple[int, ...], equal: bool
) -> None:
    library.equal.restype = ctypes.c_bool
    assert library.equal(array(first), array(second)) == equal
