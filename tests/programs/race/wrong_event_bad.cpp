// A flag between the copy and the instruction that needs it: for the pipe that computes.
// delayed: wrong numbers
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_wrong_event_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  DataCopy(a, xGm, 64);  // the other access
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0), WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  Adds(b, a, 1.0f, 64);  // expect: race-read-after-write
  SetFlag<HardEvent::V_MTE3>(EVENT_ID1), WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
  DataCopy(yGm, b, 64);
}
