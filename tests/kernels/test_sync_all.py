"""SyncAll: all blocks alive, in a fixed order, and a named deadlock when they cannot meet."""

from __future__ import annotations

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.errors import KernelCrash, KernelFault
from gn_tutorial.operators.result import Result

# Every round each block publishes a number, in a cache line of its own, and then reads everybody's: without a barrier
# later numbers are missing.
MEET = """
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void meet(GM_ADDR numbers, GM_ADDR sums, GM_ADDR counters, uint32_t soft,
                                           uint32_t early, uint32_t rounds) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 64 * 32);
  LocalTensor<int32_t> local = buffer.Get<int32_t>();
  GlobalTensor<int32_t> n, s, c;
  n.SetGlobalBuffer((__gm__ int32_t*)numbers);
  s.SetGlobalBuffer((__gm__ int32_t*)sums);
  c.SetGlobalBuffer((__gm__ int32_t*)counters);
  const int32_t block = GetBlockIdx();
  if (block == static_cast<int32_t>(early)) return;
  int32_t total = 0;
  for (uint32_t round = 0; round < rounds; ++round) {
    n.SetValue(16 * block, (block + 1) * static_cast<int32_t>(round + 1));
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(n);
    if (soft) SyncAll(c, local); else SyncAll();
    for (int64_t other = 0; other < GetBlockNum(); ++other) total += n.GetValue(16 * other);
    if (soft) SyncAll(c, local); else SyncAll();
  }
  s.SetValue(16 * block, total);
}
"""
NOBODY = 999


def meet(
    blocks: int, *, soft: bool = False, early: int = NOBODY, rounds: int = 3, counters: int = 0, isolated: bool = False
) -> Result:
    numbers = gnt.out((blocks, 16), np.int32)
    used = gnt.inout(np.full(blocks * 8, counters, np.int32))
    sums = gnt.out((blocks, 16), np.int32)
    kernel = gnt.kernel(source=MEET)
    return kernel.run(numbers, sums, used, soft, early, rounds, blocks=blocks, isolated=isolated)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("blocks", [1, 2, 7, 48])
def test_every_block_sees_what_all_blocks_wrote_before(blocks: int, soft: bool) -> None:
    expected = blocks * (blocks + 1) // 2 * (1 + 2 + 3)
    result = meet(blocks, soft=soft)
    assert np.array_equal(result.sums[:, 0], np.full(blocks, expected))


def test_blocks_meet_in_a_process_of_their_own_too() -> None:
    assert np.array_equal(meet(5, isolated=True).sums[:, 0], np.full(5, 90))


@pytest.mark.parametrize("early", [0, 3, 6])
@pytest.mark.parametrize("isolated", [False, True])
def test_a_block_that_returns_early_is_a_named_deadlock(early: int, isolated: bool) -> None:
    with pytest.raises(KernelFault) as refused:
        meet(7, early=early, isolated=isolated)
    (found,) = refused.value.diagnostics
    assert (found.id, found.fields["done_block"], found.fields["waiting"]) == ("sync-all-deadlock", early, 6)
    line = MEET.splitlines().index("    if (soft) SyncAll(c, local); else SyncAll();") + 1
    assert found.line == line


def test_a_diagnostic_in_one_block_ends_the_waiting_ones() -> None:
    source = MEET.replace("if (block == static_cast<int32_t>(early)) return;", "if (block == 4) local.GetValue(5000);")
    with pytest.raises(KernelFault) as refused:
        gnt.kernel(source=source).run(
            gnt.out((6, 16), np.int32),
            gnt.out((6, 16), np.int32),
            gnt.inout(np.zeros(48, np.int32)),
            0,
            NOBODY,
            3,
            blocks=6,
        )
    assert [one.id for one in refused.value.diagnostics] == ["ub-index"]


def test_the_software_form_wants_a_workspace_of_zeros() -> None:
    with pytest.raises(KernelFault) as refused:
        meet(3, soft=True, counters=5)
    assert refused.value.diagnostics.ordered[0].id == "sync-all-workspace"


def test_the_software_form_wants_32_bytes_per_block() -> None:
    with pytest.raises(KernelFault) as refused:
        gnt.kernel(source=MEET).run(
            gnt.out((3, 16), np.int32),
            gnt.out((3, 16), np.int32),
            gnt.inout(np.zeros(16, np.int32)),
            1,
            NOBODY,
            1,
            blocks=3,
        )
    assert [one.id for one in refused.value.diagnostics] == ["gm-out-of-bounds"]


# The last of the blocks that have met goes too deep, or to an address that nobody has.
FALL = """
#include "kernel_operator.h"
__attribute__((noinline)) uint32_t Deeper(uint32_t depth) {
  volatile uint32_t room[1000];
  room[depth % 1000] = depth;
  return depth == 0xffffffff ? 0 : Deeper(depth + 1) + room[depth % 7];
}
extern "C" __global__ __aicore__ void fall(GM_ADDR numbers, uint32_t deep, uint32_t meet) {
  AscendC::TPipe pipe;
  if (meet) AscendC::SyncAll();
  if (AscendC::GetBlockIdx() + 1 != AscendC::GetBlockNum()) return;
  volatile uint32_t* nowhere = reinterpret_cast<volatile uint32_t*>(static_cast<uintptr_t>(meet) + 64);
  AscendC::GlobalTensor<uint32_t> n;
  n.SetGlobalBuffer((__gm__ uint32_t*)numbers);
  n.SetValue(0, deep ? Deeper(0) : *nowhere);
}
"""


@pytest.mark.parametrize("meet_first", [False, True])
@pytest.mark.parametrize(("deep", "what"), [(True, "used up its stack"), (False, "used a null pointer")])
def test_a_crash_of_a_block_is_told_apart_from_a_stack_that_is_used_up(meet_first: bool, deep: bool, what: str) -> None:
    with pytest.raises(KernelCrash, match=what) as caught:
        gnt.kernel(source=FALL).run(gnt.out(8, np.uint32), deep, meet_first, blocks=3)
    assert "block 2" in caught.value.where
