// A result that the next instruction overwrites.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_result_lost_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  TBuf<TPosition::VECCALC> bBuffer;
  pipe.InitBuffer(bBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  LocalTensor<float> b = bBuffer.Get<float>();
  Duplicate(a, 1.0f, 64);
  Adds(b, a, 1.0f, 64);
  Muls(b, a, 2.0f, 64);  // expect: ub-overwritten-unread
  Adds(a, b, 1.0f, 64);
}
