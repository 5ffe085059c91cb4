// Head and tail of WelfordFinalize are all columns together.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_welford_lengths_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 65536);
  LocalTensor<float> a = buffer.GetWithOffset<float>(8, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(8, 32);
  LocalTensor<float> m = buffer.GetWithOffset<float>(16, 64);
  LocalTensor<float> v = buffer.GetWithOffset<float>(16, 128);
  Duplicate(m, 1.0f, 16);
  Duplicate(v, 2.0f, 16);
  WelfordFinalizePara whole{4, 16, 1, 16, 0, 0, 0.0625f, 0.015625f}, odd{4, 16, 1, 8, 0, 0, 0.0625f, 0.015625f};
  WelfordFinalize<false>(a, b, m, v, whole);
}
