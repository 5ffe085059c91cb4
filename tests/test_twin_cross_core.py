"""CrossCoreSetFlag and CrossCoreWaitFlag: every block sees what all blocks wrote before they set the flag."""

from __future__ import annotations

import numpy as np
import pytest

import gn_tutorial as gnt
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
    CrossCoreSetFlag<0, PIPE_MTE3>(3);
    CrossCoreWaitFlag(3);
    for (int64_t other = 0; other < GetBlockNum(); ++other) total += n.GetValue(16 * other);
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
