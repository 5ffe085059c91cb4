// Get called twice returns the same bytes twice.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_same_bytes_of_a_buffer_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> scratch, source;
  pipe.InitBuffer(scratch, 512);
  pipe.InitBuffer(source, 256);
  LocalTensor<float> x0 = source.Get<float>();
  Duplicate(x0, 1.0f, 64);
  LocalTensor<float> up = scratch.Get<float>(64);
  LocalTensor<float> down = scratch.GetWithOffset<float>(64, 0);
  Exp(up, x0, 64);
  Muls(down, x0, -1.0f, 64);  // expect: ub-overwritten-unread
  Add(x0, up, down, 64);
}
