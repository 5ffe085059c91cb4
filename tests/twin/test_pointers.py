"""Kernels that pass an operation as a function pointer, as generated foreach kernels do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import examples
from twin_reference import ADD, MUL, no_zero_sign
from twin_support import Data, assert_same, data, quiet

import gn_tutorial as gnt

SOURCE = """
#include "kernel_operator.h"
using namespace AscendC;
using Operation = void(const LocalTensor<float>&, const LocalTensor<float>&, const float&, const int32_t&);

template <Operation* operation>
__aicore__ inline void Apply(const LocalTensor<float>& dst, const LocalTensor<float>& src, float scalar,
                                int32_t count) {
  operation(dst, src, scalar, count);
}

extern "C" __global__ __aicore__ void pointers(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECIN> inBuf;
  TBuf<TPosition::VECOUT> outBuf;
  pipe.InitBuffer(inBuf, 256);
  pipe.InitBuffer(outBuf, 256);
  LocalTensor<float> in = inBuf.Get<float>();
  LocalTensor<float> out = outBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer((__gm__ float*)x, 64);
  yGm.SetGlobalBuffer((__gm__ float*)y, 64);
  DataCopy(in, xGm, 64);
  PipeBarrier<PIPE_ALL>();
  Apply<Adds<float>>(out, in, 1.5f, 64);
  Apply<Muls<float>>(out, out, -2.0f, 64);
  Apply<Maxs<float>>(out, out, -4.0f, 40);
  Apply<Mins<float>>(out, out, 3.0f, 50);
  PipeBarrier<PIPE_ALL>();
  DataCopy(yGm, out, 64);
}
"""


def test_scalar_operations_as_function_pointers() -> None:
    x = np.linspace(-5, 7, 64, dtype=np.float32)
    expected = (x + np.float32(1.5)) * np.float32(-2)
    expected[:40] = np.maximum(expected[:40], -4)
    expected[:50] = np.minimum(expected[:50], 3)
    done = gnt.kernel(source=SOURCE).run(x, y=gnt.out(64, np.float32))
    np.testing.assert_array_equal(done.y, expected)


# The operation of each step is known when the kernel runs: a table of pointers, as a dispatcher keeps one.
TABLE = """
#include "kernel_operator.h"
using namespace AscendC;

struct Step {
  uint32_t operation, count;
  float scalar;
};

template <class T>
__aicore__ inline void Run(LocalTensor<T> x, const __gm__ Step* steps, uint32_t number) {
  using Operation = void(const LocalTensor<T>&, const LocalTensor<T>&, const T&, const int32_t&);
  Operation* const table[] = {Adds<T>, Muls<T>, Maxs<T>, Mins<T>};
  for (uint32_t i = 0; i < number; ++i) {
    table[steps[i].operation](x, x, static_cast<T>(steps[i].scalar), static_cast<int32_t>(steps[i].count));
  }
}

extern "C" __global__ __aicore__ void table(GM_ADDR x, GM_ADDR steps, GM_ADDR y, uint32_t number, uint32_t type) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1024);
  LocalTensor<uint8_t> bytes = buffer.Get<uint8_t>();
  GlobalTensor<uint8_t> xGm, yGm;
  xGm.SetGlobalBuffer(x, 1024);
  yGm.SetGlobalBuffer(y, 1024);
  DataCopy(bytes, xGm, 1024);
  PipeBarrier<PIPE_ALL>();
  const auto program = reinterpret_cast<const __gm__ Step*>(steps);
  switch (type) {
    case 0: Run(buffer.Get<half>(), program, number); break;
    case 1: Run(buffer.Get<float>(), program, number); break;
    case 2: Run(buffer.Get<int32_t>(), program, number); break;
    case 3: Run(buffer.Get<int16_t>(), program, number); break;
  }
  PipeBarrier<PIPE_ALL>();
  DataCopy(yGm, bytes, 1024);
}
"""
DTYPES = (np.float16, np.float32, np.int32, np.int16)
STEP = np.dtype([("operation", np.uint32), ("count", np.uint32), ("scalar", np.float32)])
OPERATIONS = (ADD, MUL, np.maximum, np.minimum)
SCALARS = st.integers(-64, 64).map(lambda quarter: quarter / 4)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_table_of_pointers(dtype: type) -> None:
    n = 1024 // np.dtype(dtype).itemsize
    steps = st.lists(st.tuples(st.integers(0, 3), st.integers(1, n), SCALARS), min_size=1, max_size=8)

    @settings(max_examples=examples(50), deadline=None)
    @given(values=data(), program=steps)
    def check(values: Data, program: list[tuple[int, int, float]]) -> None:
        x = values.array(dtype, n)
        done = gnt.kernel(source=TABLE).run(
            x.view(np.uint8),
            np.array(program, STEP).view(np.uint8),
            gnt.out(1024, np.uint8),
            len(program),
            DTYPES.index(dtype),
            isolated=False,
        )
        expected = x.copy()
        with quiet():
            for operation, count, scalar in program:
                operand = np.full(count, np.trunc(scalar) if x.dtype.kind == "i" else scalar).astype(dtype)
                expected[:count] = OPERATIONS[operation](expected[:count], operand)
        assert_same(no_zero_sign(done.y.view(dtype)), no_zero_sign(expected))

    check()
