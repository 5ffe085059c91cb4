// So do the sums of rows.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void precision_half_row_sum_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  TBuf<TPosition::VECCALC> bBuffer;
  pipe.InitBuffer(bBuffer, 1024);
  LocalTensor<half> a = aBuffer.Get<half>();
  LocalTensor<half> b = bBuffer.Get<half>();
  Duplicate(a, half(1000.0f), 256);
  WholeReduceSum(b, a, 64, 2, 1, 1, 8);
}
