// A vector instruction stays inside its buffer of 64 floats.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_out_of_bounds_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Adds(t, t, 1.0f, 65);  // expect: ub-out-of-bounds
}
