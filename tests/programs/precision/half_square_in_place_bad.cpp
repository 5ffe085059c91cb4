// Also where the result replaces its source.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void precision_half_square_in_place_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  TBuf<TPosition::VECCALC> bBuffer;
  pipe.InitBuffer(bBuffer, 1024);
  LocalTensor<half> a = aBuffer.Get<half>();
  LocalTensor<half> b = bBuffer.Get<half>();
  Duplicate(a, half(300.0f), 64);
  Mul(a, a, a, 64, 1, {1, 1, 1, 8, 8, 8});  // expect: half-overflow
}
