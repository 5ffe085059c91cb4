// Accumulating over repeats is documented for a few instructions only.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_accumulate_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  TBuf<TPosition::VECCALC> bBuffer;
  pipe.InitBuffer(bBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  LocalTensor<float> b = bBuffer.Get<float>();
  Duplicate(a, 1.0f, 256);
  Duplicate(b, 1.0f, 64);
  Div(b, a, b, 64, 4, {1, 1, 1, 0, 8, 0});  // expect: accumulate-operand
}
