"""Tensors placed by address, without TPipe, and the compiler's own names for flags and barriers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples

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


# Tensors of run-time places and sizes: Alloc takes the next bytes, LocalTensor any place, over what is there.
PLACES = """
#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t kBytes = 16384;

struct Step {
  int32_t allocate, type, address, count, value;
};

template <class T>
__aicore__ inline uint32_t Fill(LocalMemAllocator<Hardware::UB>& memory, const __gm__ Step& step) {
  LocalTensor<T> whole = step.allocate ? memory.Alloc<TPosition::VECIN, T>(step.count)
                                       : LocalTensor<T>(TPosition::VECCALC, step.address, step.count);
  Duplicate(whole, static_cast<T>(step.value), step.count);
  return memory.GetCurAddr();
}

extern "C" __global__ __aicore__ void places(GM_ADDR steps, GM_ADDR heads, GM_ADDR y, uint32_t number) {
  InitSocState();
  LocalMemAllocator<Hardware::UB> memory;
  LocalTensor<int32_t> background(TPosition::VECOUT, 0, kBytes / 4);
  Duplicate(background, 0, kBytes / 4);
  for (uint32_t i = 0; i < number; ++i) {
    const __gm__ Step& step = reinterpret_cast<const __gm__ Step*>(steps)[i];
    uint32_t head = 0;
    switch (step.type) {
      case 0: head = Fill<half>(memory, step); break;
      case 1: head = Fill<float>(memory, step); break;
      case 2: head = Fill<int32_t>(memory, step); break;
      case 3: head = Fill<uint16_t>(memory, step); break;
    }
    reinterpret_cast<__gm__ uint32_t*>(heads)[i] = head;
  }
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  GlobalTensor<uint8_t> out;
  out.SetGlobalBuffer(y, kBytes);
  DataCopy(out, LocalTensor<uint8_t>(TPosition::VECOUT, 0, kBytes), kBytes);
}
"""
ROOM = 16384
DTYPES = (np.float16, np.float32, np.int32, np.uint16)
PLACED = st.tuples(
    st.booleans(), st.integers(0, 3), st.integers(0, ROOM // 32 - 1), st.integers(1, 40), st.integers(0, 2000)
)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(PLACED, min_size=1, max_size=20))
def test_tensors_of_any_place_and_size(wanted: list[tuple[bool, int, int, int, int]]) -> None:
    memory, head, heads, steps = np.zeros(ROOM, np.uint8), 0, [], []
    for allocate, code, block, blocks, value in wanted:
        dtype = np.dtype(DTYPES[code])
        address = head if allocate else 32 * block
        size = min(32 * blocks, ROOM - address)
        if size == 0:
            continue
        memory[address : address + size] = np.full(size // dtype.itemsize, value).astype(dtype).view(np.uint8)
        head += size if allocate else 0
        heads.append(head)
        steps.append((int(allocate), code, address, size // dtype.itemsize, value))
    result = gnt.kernel(source=PLACES).run(
        np.array(steps, np.int32), gnt.out(len(steps), np.uint32), gnt.out(ROOM, np.uint8), len(steps), isolated=False
    )
    np.testing.assert_array_equal(result.y, memory)
    assert result.heads.tolist() == heads
    assert result.tally.ub_high_water == ROOM
