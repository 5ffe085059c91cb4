// ResetMask does not leave counter mode.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_counter_mode_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  TBuf<TPosition::VECCALC> sumBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  pipe.InitBuffer(sumBuffer, 32);
  LocalTensor<float> a = aBuffer.Get<float>();
  LocalTensor<float> sums = sumBuffer.Get<float>();
  SetMaskCount();  // the cause
  SetVectorMask<float, MaskMode::COUNTER>(256);
  Duplicate<float, false>(a, 1.0f, MASK_PLACEHOLDER, 1, 1, 8);
  ResetMask();
  ResetMask();
  PipeBarrier<PIPE_V>();
  WholeReduceSum<float>(sums, a, 64, 4, 1, 1, 8);  // expect: ub-out-of-bounds  // also: mask-in-counter-mode
  SetMaskNorm();
}
