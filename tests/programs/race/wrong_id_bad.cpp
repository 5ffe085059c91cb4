// Each copy has an event id of its own: the one that was waited for says which data are there.
// delayed: wrong numbers
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_wrong_id_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf, cBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  pipe.InitBuffer(cBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>(), c = cBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  DataCopy(a, xGm, 64);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  DataCopy(b, xGm[64], 64);  // the other access
  SetFlag<HardEvent::MTE2_V>(EVENT_ID1);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(c, b, 1.0f, 64);  // expect: race-read-after-write
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID1);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID1), WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
  DataCopy(yGm, c, 64);
}
