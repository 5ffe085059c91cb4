// A factor is stored through a pointer, and the vector unit reads it without a wait.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_pointer_store_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> factorBuf, outBuf;
  pipe.InitBuffer(factorBuf, 32);
  pipe.InitBuffer(outBuf, 32);
  LocalTensor<float> factors = factorBuf.Get<float>(), out = outBuf.Get<float>();
  __ubuf__ float* at = (__ubuf__ float*)factors.GetPhyAddr();
  for (uint32_t i = 0; i < 8; ++i) at[i] = 0.5f;  // the other access
  PipeBarrier<PIPE_V>();
  Muls(out, factors, 3.0f, 8);  // expect: race-read-after-write
}
