// The square of a half above 255 is infinity.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void precision_half_square_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  TBuf<TPosition::VECCALC> bBuffer;
  pipe.InitBuffer(bBuffer, 1024);
  LocalTensor<half> a = aBuffer.Get<half>();
  LocalTensor<half> b = bBuffer.Get<half>();
  Duplicate(a, half(200.0f), 64);
  Mul(b, a, a, 64);
}
