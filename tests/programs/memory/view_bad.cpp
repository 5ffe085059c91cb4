// A view is shorter by its offset.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_view_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  LocalTensor<float> tail = t[32];
  Adds(tail, t, 1.0f, 40);  // expect: ub-out-of-bounds
}
