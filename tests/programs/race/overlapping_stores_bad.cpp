// Two copies to the same bytes of global memory need a barrier of their pipe.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_overlapping_stores_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(a, 2.0f, 64);
  Duplicate(b, 3.0f, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, a, 64);      // the other access
  DataCopy(yGm[56], b, 64);  // expect: race-same-pipe
}
