// A sum is read through a pointer, for which the compiler adds no wait.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_pointer_reads_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> sumBuf, outBuf;
  pipe.InitBuffer(sumBuf, 32);
  pipe.InitBuffer(outBuf, 256);
  LocalTensor<float> sum = sumBuf.Get<float>(), out = outBuf.Get<float>();
  __ubuf__ float* result = (__ubuf__ float*)sum.GetPhyAddr();
  Duplicate(out, 2.0f, 64);
  WholeReduceSum(sum, out, 64, 1, 1, 1, 8);  // the other access
  PipeBarrier<PIPE_V>();
  const float total = result[0];  // expect: race-read-after-write
  Muls(out, out, total, 64);
}
