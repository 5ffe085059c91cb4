// The instruction that refills an output waits for the copy that takes it away.
// delayed: wrong numbers
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_recompute_too_early_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(a, 2.0f, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, a, 64);  // the other access
  SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0), WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
  Duplicate(a, 3.0f, 64);  // expect: race-write-after-read
}
