"""Long loops of GetValue and SetValue, which the twin counts without looking at each: nothing is missed or invented."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thoroughness import examples

import gn_tutorial as gnt
from gn_tutorial.errors import KernelFault

# Runs `steps` triples (what, from, count) over one tensor of 1024 floats: load, store, load one element and store the
# next, load one and store the one before, fill by the vector unit.
LOOPS = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void loops(GM_ADDR program, GM_ADDR y, uint32_t steps) {
  using namespace AscendC;
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  TBuf<TPosition::VECOUT> outBuffer;
  pipe.InitBuffer(buffer, 4096);
  pipe.InitBuffer(outBuffer, 32);
  LocalTensor<float> a = buffer.Get<float>();
  LocalTensor<float> out = outBuffer.Get<float>();
  GlobalTensor<int32_t> programGm;
  GlobalTensor<float> yGm;
  programGm.SetGlobalBuffer((__gm__ int32_t*)program, 3 * steps);
  yGm.SetGlobalBuffer((__gm__ float*)y, 8);
  float sum = 0.0f;
  for (uint32_t step = 0; step < steps; ++step) {
    const int32_t what = programGm.GetValue(3 * step);
    const int32_t from = programGm.GetValue(3 * step + 1);
    const int32_t end = from + programGm.GetValue(3 * step + 2);
    if (what == 0)
      for (int32_t i = from; i < end; ++i)
        sum += a.GetValue(i);
    if (what == 1)
      for (int32_t i = from; i < end; ++i)
        a.SetValue(i, 1.0f);
    if (what == 2)
      for (int32_t i = from; i < end; ++i)
        a.SetValue((i + 1) % 1024, a.GetValue(i));
    if (what == 3)
      for (int32_t i = from; i < end; ++i)
        a.SetValue(i, a.GetValue(i + 1));
    if (what == 4)
      Duplicate(a[from / 8 * 8], 1.0f, end - from);
  }
  Duplicate(out, 0.0f, 8);
  SetFlag<HardEvent::V_S>(EVENT_ID0);
  WaitFlag<HardEvent::V_S>(EVENT_ID0);
  out.SetValue(0, sum);
  SetFlag<HardEvent::S_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::S_MTE3>(EVENT_ID0);
  DataCopy(yGm, out, 8);
}
"""
LOAD, STORE, PUSH, PULL, FILL = range(5)

counts = st.one_of(st.integers(1, 40), st.integers(60, 70), st.integers(100, 700))
step = st.tuples(st.sampled_from([LOAD, STORE, STORE, PUSH, PULL, FILL]), st.integers(0, 300), counts)


def model(program: list[tuple[int, int, int]]) -> tuple[bool, int]:
    """Whether a load meets an element that nobody wrote, and the number of scalar accesses."""
    written = np.zeros(1024, bool)
    missing, accesses = False, 3 * len(program) + 1
    for what, first, count in program:
        accesses += {LOAD: count, STORE: count, PUSH: 2 * count, PULL: 2 * count, FILL: 0}[what]
        if what == LOAD:
            missing |= not written[first : first + count].all()
        elif what == STORE:
            written[first : first + count] = True
        elif what == PULL:
            missing |= not written[first + 1 : first + count + 1].all()
            written[first : first + count] = True
        elif what == PUSH:  # only its first load may meet one: the others load what it stored
            missing |= not written[first]
            written[first + 1 : first + count + 1] = True
        else:
            written[first // 8 * 8 : first // 8 * 8 + count] = True
    return missing, accesses


@pytest.fixture(scope="module")
def loops() -> gnt.Kernel:
    return gnt.kernel(source=LOOPS)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(step, min_size=1, max_size=6))
@example([(STORE, 0, 200), (PULL, 120, 200)])
@example([(STORE, 0, 300), (LOAD, 0, 301)])
def test_every_access_is_counted_and_a_missing_value_found(loops: gnt.Kernel, program: list) -> None:
    steps = np.array(program, np.int32).ravel()
    missing, accesses = model(program)
    call = functools.partial(loops.run, steps, y=gnt.out(8, np.float32), steps=len(program), isolated=False)
    if missing:
        with pytest.raises(KernelFault) as caught:
            call()
        assert {one.id for one in caught.value.diagnostics} == {"ub-never-written"}
    else:
        assert call().tally.scalar == accesses
