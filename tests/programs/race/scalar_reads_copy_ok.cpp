// Without automatic synchronisation the scalar unit waits for the copy by a flag.
// options: auto_sync=off
// delayed: wrong numbers
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_scalar_reads_copy_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  DataCopy(a, xGm[64], 64);  // the other access
  SetFlag<HardEvent::MTE2_S>(EVENT_ID0), WaitFlag<HardEvent::MTE2_S>(EVENT_ID0);
  const float value = a.GetValue(0);
  Duplicate(b, value, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID1), WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
  DataCopy(yGm, b, 64);
}
