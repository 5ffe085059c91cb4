// A sum over the repeats begins with what its place holds.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_own_result_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inputs;
  TBuf<TPosition::VECCALC> sumBuffer;
  pipe.InitBuffer(inputs, 1, 1024);
  pipe.InitBuffer(sumBuffer, 256);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> sum = sumBuffer.Get<float>();
  LocalTensor<float> a = inputs.AllocTensor<float>();
  DataCopy(a, xGm, 256);
  inputs.EnQue(a);
  a = inputs.DeQue<float>();
  if (a.GetSize() == 0) Duplicate(sum, 0.0f, 64);
  PipeBarrier<PIPE_V>();
  Add(sum, a, sum, 64, 4, {1, 1, 1, 0, 8, 0});  // expect: ub-never-written
  inputs.FreeTensor(a);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, sum, 64);
}
