// Get cannot exceed what InitBuffer made.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_get_too_long_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>(64);
  Adds(t, t, 1.0f, 8);
}
