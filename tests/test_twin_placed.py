"""Tensors placed by address, without TPipe, and the compiler's own names for flags and barriers."""

from __future__ import annotations

import numpy as np
import pytest

import gn_tutorial as gnt

# The static-tensor style: one allocator, flags by hand, no queue. The scalar at the end reports GetCurAddr.
ADD = """
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void placed(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR head, uint32_t n) {
  InitSocState();
  LocalMemAllocator<Hardware::UB> memory;
  GlobalTensor<float> gx, gy, gz;
  gx.SetGlobalBuffer((__gm__ float*)x);
  gy.SetGlobalBuffer((__gm__ float*)y);
  gz.SetGlobalBuffer((__gm__ float*)z);
  LocalTensor<float> a = memory.Alloc<TPosition::VECIN, float, 1024>();
  LocalTensor<float> b = memory.Alloc<float>(1024);
  LocalTensor<float> c(TPosition::VECOUT, memory.GetCurAddr(), 1024);
  for (uint32_t i = 0; i < n; i += 1024) {
    if (i > 0) wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    DataCopy(a, gx[i], 1024);
    DataCopy(b, gy[i], 1024);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    Add(c, a, b, 1024);
    pipe_barrier(PIPE_V);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(gz[i], c, 1024);
    if (i + 1024 < n) set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  }
  *(__gm__ uint32_t*)head = memory.GetCurAddr();
  dcci(head, SINGLE_CACHE_LINE);
}
"""


@pytest.mark.parametrize("observed", [True, False])
def test_a_kernel_without_tpipe(observed: bool) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((2, 4096)).astype(np.float32)
    result = gnt.kernel(source=ADD).run(
        x, y, gnt.out(x.shape, np.float32), gnt.out((1,), np.uint32), 4096, isolated=False, observed=observed
    )
    np.testing.assert_array_equal(result.z, x + y)
    assert result.head[0] == 2 * 4096


def test_placed_tensors_count_as_used_memory() -> None:
    x = np.zeros(1024, np.float32)
    z, head = gnt.out(x.shape, np.float32), gnt.out((1,), np.uint32)
    result = gnt.kernel(source=ADD).run(x, x, z, head, 1024, isolated=False)
    assert result.tally.ub_high_water == 3 * 4096


def test_pop_stack_buffer_is_what_init_buffer_left() -> None:
    source = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void stack(GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1000);
  LocalTensor<half> rest;
  PopStackBuffer<half, TPosition::LCM>(rest);
  Duplicate(buffer.Get<half>(), half(1.0f), 512);
  Duplicate(rest, half(2.0f), 16);
  *(__gm__ uint32_t*)y = rest.GetSize();
  *(__gm__ uint32_t*)(y + 4) = static_cast<uint32_t>(float(buffer.Get<half>().GetValue(511)));
}
"""
    result = gnt.kernel(source=source).run(gnt.out((2,), np.uint32), isolated=False)
    assert result.y.tolist() == [(192 * 1024 - 128 - 1024) // 2, 1]
