"""CrossCoreSetFlag and CrossCoreWaitFlag: every block sees what all blocks wrote before they set the flag."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples

import gn_tutorial as gnt
from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.errors import KernelFault

MEET = """
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void meet(GM_ADDR numbers, GM_ADDR sums, uint32_t early, uint32_t rounds) {
  GlobalTensor<int32_t> n, s;
  n.SetGlobalBuffer((__gm__ int32_t*)numbers);
  s.SetGlobalBuffer((__gm__ int32_t*)sums);
  const int32_t block = GetBlockIdx();
  if (block == static_cast<int32_t>(early)) return;
  int32_t total = 0;
  for (uint32_t round = 0; round < rounds; ++round) {
    n.SetValue(16 * block, (block + 1) * static_cast<int32_t>(round + 1));
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(n);
    SetFlag<HardEvent::S_MTE3>(EVENT_ID0);  // the flag of a copy pipe covers stores of the scalar unit only so
    WaitFlag<HardEvent::S_MTE3>(EVENT_ID0);
    CrossCoreSetFlag<0, PIPE_MTE3>(3);
    CrossCoreWaitFlag(3);
    for (int64_t other = 0; other < GetBlockNum(); ++other) total += n.GetValue(16 * other);
    SetFlag<HardEvent::S_V>(EVENT_ID0);
    WaitFlag<HardEvent::S_V>(EVENT_ID0);
    CrossCoreSetFlag<0, PIPE_V>(4);
    CrossCoreWaitFlag<0, PIPE_S>(4);
  }
  s.SetValue(16 * block, total);
}
"""


@pytest.mark.parametrize("blocks", [1, 2, 9])
def test_blocks_meet(blocks: int) -> None:
    kernel = gnt.kernel(source=MEET)
    result = kernel.run(
        gnt.out((blocks, 16), np.int32), gnt.out((blocks, 16), np.int32), 99, 3, blocks=blocks, isolated=False
    )
    np.testing.assert_array_equal(result.sums[:, 0], np.full(blocks, blocks * (blocks + 1) // 2 * 6))


def test_a_block_that_does_not_come_is_named() -> None:
    kernel = gnt.kernel(source=MEET)
    with pytest.raises(KernelFault) as caught:
        kernel.run(gnt.out((4, 16), np.int32), gnt.out((4, 16), np.int32), 2, 1, blocks=4, isolated=False)
    (found,) = caught.value.diagnostics
    assert (found.id, found.fields["waiting"], found.fields["done_block"]) == ("sync-all-deadlock", 3, 2)


# Every round each block publishes its row, meets the others, and adds the row of a block that the plan names to twice
# its own.
TRADE = """
#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t kRow = 64;

extern "C" __global__ __aicore__ void trade(GM_ADDR x, GM_ADDR plan, GM_ADDR shelf, GM_ADDR y, uint32_t rounds) {
  const uint32_t block = GetBlockIdx(), blocks = GetBlockNum();
  GlobalTensor<float> xGm, shelfGm, yGm;
  xGm.SetGlobalBuffer((__gm__ float*)x);
  shelfGm.SetGlobalBuffer((__gm__ float*)shelf);
  yGm.SetGlobalBuffer((__gm__ float*)y);
  LocalTensor<float> own(TPosition::VECCALC, 0, kRow), other(TPosition::VECCALC, kRow * sizeof(float), kRow);
  DataCopy(own, xGm[block * kRow], kRow);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  for (uint32_t round = 0; round < rounds; ++round) {
    const __gm__ int32_t* line = (__gm__ int32_t*)plan + round * (blocks + 2);
    if (line[2 + block] < 0) return;
    DataCopy(shelfGm[block * kRow], own, kRow);
    CrossCoreSetFlag<0, PIPE_MTE3>(line[0]);
    CrossCoreWaitFlag(line[0]);
    DataCopy(other, shelfGm[line[2 + block] * kRow], kRow);
    CrossCoreSetFlag<0, PIPE_MTE2>(line[1]);
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    Muls(own, own, 2.0f, kRow);
    PipeBarrier<PIPE_V>();
    Add(own, own, other, kRow);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
    CrossCoreWaitFlag(line[1]);
  }
  DataCopy(yGm[block * kRow], own, kRow);
}
"""
ROW = 64


@st.composite
def plans(draw: st.DrawFn, *, most: int = 6) -> np.ndarray:
    """For each round the ids of its two flags, then for each block the block whose row it takes."""
    blocks, rounds = draw(st.integers(1, most)), draw(st.integers(1, 6))
    flags = st.lists(st.integers(0, 10), min_size=2, max_size=2, unique=True)
    peers = st.lists(st.integers(0, blocks - 1), min_size=blocks, max_size=blocks)
    return np.array([draw(flags) + draw(peers) for _ in range(rounds)], np.int32)


def trade(plan: np.ndarray, x: np.ndarray, options: TwinOptions | None = None) -> np.ndarray:
    blocks = plan.shape[1] - 2
    shelf, y = gnt.out((blocks, ROW), np.float32), gnt.out((blocks, ROW), np.float32)
    run = gnt.kernel(source=TRADE).run
    return run(x, plan, shelf, y, len(plan), blocks=blocks, isolated=False, options=options).y


@settings(max_examples=examples(60), deadline=None)
@given(plan=plans(), seed=st.integers(0, 2**32 - 1), delayed=st.booleans(), auto_sync=st.sampled_from(["on", "off"]))
def test_any_plan_of_meetings(plan: np.ndarray, seed: int, delayed: bool, auto_sync: str) -> None:
    x = np.random.default_rng(seed).integers(-500, 500, (plan.shape[1] - 2, ROW)).astype(np.float32)
    expected = x.astype(np.float64)  # exact in float too: 500 times 3 to the 6th
    for line in plan:
        expected = 2 * expected + expected[line[2:]]
    options = TwinOptions(delayed_dma=delayed, auto_sync=auto_sync)
    np.testing.assert_array_equal(trade(plan, x, options), expected)


@settings(max_examples=examples(40), deadline=None)
@given(plan=plans(), data=st.data())
def test_any_blocks_that_leave_are_counted(plan: np.ndarray, data: st.DataObject) -> None:
    blocks = plan.shape[1] - 2
    leave = data.draw(st.sets(st.integers(0, blocks - 1), max_size=blocks - 1))
    last = data.draw(st.integers(0, len(plan) - 1))
    plan[last, [2 + block for block in leave]] = -1
    x = np.ones((blocks, ROW), np.float32)
    if not leave:
        trade(plan, x)
        return
    with pytest.raises(KernelFault) as caught:
        trade(plan, x)
    (found,) = [one for one in caught.value.diagnostics if one.id == "sync-all-deadlock"]
    assert found.fields["waiting"] == blocks - len(leave)
    assert found.fields["done_block"] in leave
