// The stride of WholeReduceSum in blocks of 32 bytes: it counts results.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_result_stride_out_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, sumBuf;
  pipe.InitBuffer(aBuf, 4096);
  pipe.InitBuffer(sumBuf, 64);
  LocalTensor<float> a = aBuf.Get<float>(), sums = sumBuf.Get<float>();
  Duplicate(a, 1.0f, 1024);
  WholeReduceSum(sums, a, 64, 16, 1, 1, 8);
}
