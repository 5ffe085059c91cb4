"""Gather reads elements from anywhere: the checkers take all of its offsets at once where that says everything, and
one by one where it does not. What they find depends on which elements were gathered, and on nothing else.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from thoroughness import examples

import gn_tutorial as gnt
from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import KernelFault

# A table of 512 floats, in eight rows of 64; two gathers from it with `n` offsets each, and what follows them.
SOURCE = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void gathers(GM_ADDR first, GM_ADDR second, GM_ADDR filled, GM_ADDR x, GM_ADDR y,
                                              uint32_t n, uint32_t what, uint32_t at, uint32_t size) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> tableBuf, offsetBuf, sourceBuf, resultBuf;
  pipe.InitBuffer(tableBuf, 2048);
  pipe.InitBuffer(offsetBuf, 1024);
  pipe.InitBuffer(sourceBuf, 256);
  pipe.InitBuffer(resultBuf, 1024);
  LocalTensor<float> table = tableBuf.Get<float>();
  LocalTensor<uint32_t> offsets = offsetBuf.Get<uint32_t>();
  LocalTensor<float> source = sourceBuf.Get<float>();
  LocalTensor<float> result = resultBuf.Get<float>();
  GlobalTensor<uint32_t> firstGm, secondGm;
  GlobalTensor<float> xGm, yGm;
  firstGm.SetGlobalBuffer((__gm__ uint32_t*)first, 128);
  secondGm.SetGlobalBuffer((__gm__ uint32_t*)second, 128);
  xGm.SetGlobalBuffer((__gm__ float*)x, 512);
  yGm.SetGlobalBuffer((__gm__ float*)y, 256);
  DataCopy(offsets, firstGm, 128);
  DataCopy(offsets[128], secondGm, 128);
  Duplicate(source, 0.5f, 64);
  for (uint32_t row = 0; row < 8; ++row)
    if (filled[row] != 0) Adds(table[64 * row], source, 1.0f, 64);
  pipe_barrier(PIPE_ALL);
  for (uint32_t i = 0; i < 256; i += 128) Gather(result[i], table, offsets[i], 0, n);
  if (what == 0) DataCopy(table[8 * at], xGm, 8 * size);  // without waiting for the gathers
  if (what == 1) {
    pipe_barrier(PIPE_ALL);
    DataCopy(yGm, result, (n + 7) / 8 * 8);
  }
  if (what == 2)
    for (uint32_t row = 0; row < 8; ++row) Adds(table[64 * row], source, 2.0f, 64);
  if (what == 3) table.SetValue(at, 1.0f);
}
"""
RACE, STORE, FILL_AGAIN, SET = range(4)

places = st.lists(st.integers(0, 511), min_size=8, max_size=8)
# Eight elements of anywhere, or a run of neighbours.
gathered = st.one_of(places, st.integers(0, 504).map(lambda at: list(range(at, at + 8))))


@pytest.fixture(scope="module")
def gathers() -> gnt.Kernel:
    return gnt.kernel(source=SOURCE)


def found(
    kernel: gnt.Kernel,
    first: list[int],
    second: list[int],
    what: int,
    *,
    at: int = 0,
    size: int = 1,
    filled: int = 255,
    auto_sync: Literal["on", "off"] = "on",
) -> set[str]:
    """The ids of what a launch reports. ``first``, ``second``: elements of the table; ``filled``: a bit a row."""

    def offsets(elements: list[int]) -> np.ndarray:
        return np.resize(np.array(elements, np.uint32) * 4, 128)

    rows = np.array([filled >> row & 1 for row in range(8)], np.uint8)
    values = {"n": len(first), "what": what, "at": at, "size": size}
    inputs = {"first": offsets(first), "second": offsets(second), "filled": rows, "x": np.ones(512, np.float32)}
    return ids(kernel, auto_sync, **inputs, **values, y=gnt.inout(np.zeros(256, np.float32)))


def ids(kernel: gnt.Kernel, auto_sync: Literal["on", "off"], **arguments: Any) -> set[str]:
    """The ids of what a launch reports."""
    try:
        done = kernel.run(**arguments, isolated=False, options=TwinOptions(auto_sync=auto_sync))
    except KernelFault as fault:
        return {one.id for one in fault.diagnostics}
    return {one.id for one in done.diagnostics}


checked = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@checked
@given(gathered, gathered, st.integers(0, 60), st.integers(1, 4))
@example([0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], 2, 1)
@example([0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], 1, 1)
@example([0, 0, 0, 0, 0, 0, 0, 511], [0] * 8, 1, 4)
@example([0, 1, 2, 3, 4, 5, 6, 7], [96, 97, 98, 99, 100, 101, 102, 103], 12, 1)
def test_a_copy_races_with_a_gather_of_its_elements(
    gathers: gnt.Kernel, first: list[int], second: list[int], at: int, size: int
) -> None:
    expected = any(8 * at <= element < 8 * (at + size) for element in first + second)
    # The copy may also overwrite elements that nobody gathered: that is another finding.
    reported = found(gathers, first, second, RACE, at=at, size=size) - {"ub-overwritten-unread"}
    assert reported == ({"race-write-after-read"} if expected else set())


@checked
@given(gathered, gathered, st.integers(0, 511))
@example([16, 17, 18, 19, 20, 21, 22, 23], [0] * 8, 19)
@example([16, 0, 18, 0, 20, 0, 22, 0], [17, 0, 19, 0, 21, 0, 23, 0], 16)
@example([16, 0, 18, 0, 20, 0, 22, 0], [0] * 8, 17)
def test_a_store_races_with_a_gather_of_its_element(
    gathers: gnt.Kernel, first: list[int], second: list[int], at: int
) -> None:
    reported = found(gathers, first, second, SET, at=at, auto_sync="off")
    assert ("race-write-after-read" in reported) == (at in first + second)


@checked
@given(gathered, st.integers(0, 255))
def test_results_of_a_gather_from_memory_without_values_are_missing(
    gathers: gnt.Kernel, first: list[int], filled: int
) -> None:
    """Each result is followed to the block that it came from: told where one of these holds no value."""
    expected = not all(filled >> element // 64 & 1 for element in first)
    assert ("ub-never-written" in found(gathers, first, first, STORE, filled=filled)) == expected


@checked
@given(gathered, gathered)
@example(list(range(0, 512, 64)), [0] * 8)
@example(list(range(63, 512, 64)), [0] * 8)
def test_rows_that_no_gather_read_are_lost(gathers: gnt.Kernel, first: list[int], second: list[int]) -> None:
    expected = {element // 64 for element in first + second} != set(range(8))
    assert found(gathers, first, second, FILL_AGAIN) == ({"ub-overwritten-unread"} if expected else set())


@pytest.mark.parametrize("wrong", [1022, 2045, 2048, 4294967292])
@pytest.mark.parametrize("lane", [0, 7, 63, 64, 99])
def test_a_wrong_offset_is_found_in_any_lane(wrong: int, lane: int) -> None:
    source = SOURCE.replace("DataCopy(offsets[128], secondGm, 128);", "DataCopy(offsets[128], secondGm, 128); "
                            "pipe_barrier(PIPE_ALL); offsets.SetValue(at, size); pipe_barrier(PIPE_ALL);")  # fmt: skip
    with pytest.raises(KernelFault) as caught:
        gnt.kernel(source=source).run(
            first=np.zeros(128, np.uint32),
            second=np.zeros(128, np.uint32),
            filled=np.ones(8, np.uint8),
            x=np.ones(512, np.float32),
            y=gnt.inout(np.zeros(256, np.float32)),
            n=100,
            what=STORE,
            at=lane,
            size=wrong,
            isolated=False,
        )
    (one,) = caught.value.diagnostics
    assert (one.id, one.fields["index"], one.fields["offset"]) == ("gather-offset", lane, wrong)


# Six gathers, each of eight elements of its own. After the first of them flags are set and waited for, after the last
# something is written to the table.
MANY = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void gathers(GM_ADDR elements, GM_ADDR x, uint32_t flags, uint32_t by, uint32_t at) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> tableBuf, offsetBuf, resultBuf;
  pipe.InitBuffer(tableBuf, 2048);
  pipe.InitBuffer(offsetBuf, 256);
  pipe.InitBuffer(resultBuf, 256);
  LocalTensor<float> table = tableBuf.Get<float>();
  LocalTensor<uint32_t> offsets = offsetBuf.Get<uint32_t>();
  LocalTensor<float> result = resultBuf.Get<float>();
  GlobalTensor<uint32_t> elementsGm;
  GlobalTensor<float> xGm;
  elementsGm.SetGlobalBuffer((__gm__ uint32_t*)elements, 64);
  xGm.SetGlobalBuffer((__gm__ float*)x, 512);
  Duplicate(table, 0.5f, 512);
  DataCopy(offsets, elementsGm, 64);
  pipe_barrier(PIPE_ALL);
  for (uint32_t i = 0; i < 6; ++i) {
    Gather(result[8 * i], table, offsets[8 * i], 0, 8);
    if (i != 0) continue;
    if (flags & 1) { set_flag(PIPE_V, PIPE_MTE2, 0); wait_flag(PIPE_V, PIPE_MTE2, 0); }
    if (flags & 2) { set_flag(PIPE_V, PIPE_MTE3, 0); wait_flag(PIPE_V, PIPE_MTE3, 0); }
    if (flags & 4) { set_flag(PIPE_V, PIPE_S, 0); wait_flag(PIPE_V, PIPE_S, 0); }
  }
  if (by == 0) DataCopy(table[at / 8 * 8], xGm, 8);
  if (by == 1) table.SetValue(at, 1.0f);
}
"""


@pytest.fixture(scope="module")
def many() -> gnt.Kernel:
    return gnt.kernel(source=MANY)


@checked
@given(
    st.lists(places, min_size=6, max_size=6),
    st.integers(0, 7),
    st.booleans(),
    st.integers(0, 511),
    st.sampled_from(["on", "off"]),
)
@example([[i + 8 * k for i in range(8)] for k in range(6)], 2, False, 3, "on")
@example([[i + 8 * k for i in range(8)] for k in range(6)], 1, False, 3, "on")
@example([[i + 8 * k for i in range(8)] for k in range(6)], 3, True, 3, "off")
@example([[i + 8 * k for i in range(8)] for k in range(6)], 7, True, 3, "off")
@example([[i + 8 * k for i in range(8)] for k in range(6)], 7, True, 44, "off")
def test_gathers_are_remembered_until_all_that_must_wait_have_waited(
    many: gnt.Kernel, elements: list[list[int]], flags: int, scalar: bool, at: int, auto_sync: Literal["on", "off"]
) -> None:
    later = {element for gathered in elements[1:] for element in gathered}
    # Of what two windows read of one block the map keeps the later.
    assume(not scalar or at in later or at // 8 not in {element // 8 for element in later})
    waited = flags & (4 if scalar else 5) != 0  # a copy starts when the scalar unit, which issues it, has waited
    unseen = [element for gathered in elements[1 if waited else 0 :] for element in gathered]
    touched = {at} if scalar else set(range(at // 8 * 8, at // 8 * 8 + 8))
    expected = not touched.isdisjoint(unseen) and not (scalar and auto_sync == "on")
    offsets = np.array([*elements, *[[0] * 8] * 2], np.uint32).ravel() * 4
    x = np.ones(512, np.float32)
    reported = ids(many, auto_sync, elements=offsets, x=x, flags=flags, by=int(scalar), at=at)
    assert ("race-write-after-read" in reported) == expected
