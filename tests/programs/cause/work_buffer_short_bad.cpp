// ReduceMax keeps value and index of each repeat in its work buffer.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_work_buffer_short_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  TBuf<TPosition::VECCALC> workBuffer;
  pipe.InitBuffer(aBuffer, 8192);
  pipe.InitBuffer(workBuffer, 128);
  LocalTensor<float> a = aBuffer.Get<float>();
  LocalTensor<float> work = workBuffer.Get<float>();
  Duplicate(a, 1.0f, 2048);
  PipeBarrier<PIPE_V>();
  ReduceMax(a, a, work, 2048, true);  // expect: ub-out-of-bounds
}
