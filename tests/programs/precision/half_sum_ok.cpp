// A sum of halves stays below 65504.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void precision_half_sum_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  TBuf<TPosition::VECCALC> bBuffer;
  pipe.InitBuffer(bBuffer, 1024);
  TBuf<TPosition::VECCALC> cBuffer;
  pipe.InitBuffer(cBuffer, 1024);
  LocalTensor<half> a = aBuffer.Get<half>();
  LocalTensor<half> b = bBuffer.Get<half>();
  LocalTensor<half> c = cBuffer.Get<half>();
  Duplicate(a, half(1000.0f), 64);
  ReduceSum(b, a, c, 64);
}
