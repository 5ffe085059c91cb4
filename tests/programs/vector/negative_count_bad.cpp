// A count is not negative.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_negative_count_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Adds(t, t, 1.0f, -1);  // expect: count-negative
}
