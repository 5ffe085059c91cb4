// Without automatic synchronisation the scalar unit waits for the vector unit by a flag.
// options: auto_sync=off
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_scalar_reads_vector_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(a, 2.0f, 64);  // the other access
  SetFlag<HardEvent::V_S>(EVENT_ID0), WaitFlag<HardEvent::V_S>(EVENT_ID0);
  yGm.SetValue(0, a.GetValue(0));
}
