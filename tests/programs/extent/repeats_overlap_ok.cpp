// One block of the second source serves a whole repeat: its block stride is 0.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_repeats_overlap_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> rows, factors;
  pipe.InitBuffer(rows, 1024);
  pipe.InitBuffer(factors, 4 * 32);
  LocalTensor<float> a = rows.Get<float>(), b = factors.Get<float>();
  Duplicate(a, 1.0f, 256);
  Duplicate(b, 2.0f, 32);
  Mul(a, a, b, 64, 4, {1, 1, 0, 8, 8, 1});
}
