// A copy out to where a copy in may still be reading.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_global_in_place_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  DataCopy(a, yGm[64], 64);  // the other access
  Duplicate(b, 2.0f, 64);
  SetFlag<HardEvent::V_MTE2>(EVENT_ID0), WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID1), WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
  DataCopy(yGm[64], b, 64);  // expect: race-global
}
