// A tail that is overwritten after the data arrived: the instruction waits for the copy.
// delayed: wrong numbers
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_pad_after_load_bad(GM_ADDR x, GM_ADDR y) {
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
  Duplicate(a[56], 0.0f, 8);  // expect: race-write-after-write
  SetFlag<HardEvent::V_MTE3>(EVENT_ID1), WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
  DataCopy(yGm, a, 64);
}
