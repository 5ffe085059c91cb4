// Rsqrt looks its result up in a table.
// options: approximate=documented
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void precision_approximate_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  TBuf<TPosition::VECCALC> bBuffer;
  pipe.InitBuffer(bBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  LocalTensor<float> b = bBuffer.Get<float>();
  Duplicate(a, 4.0f, 64);
  Sqrt(b, a, 64);
}
