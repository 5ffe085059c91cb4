"""Kernels that pass an operation as a function pointer, as generated foreach kernels do."""

import numpy as np

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
