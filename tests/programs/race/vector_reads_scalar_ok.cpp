// Without automatic synchronisation the vector unit waits for stores of the scalar unit by a flag.
// options: auto_sync=off
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_vector_reads_scalar_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  for (uint32_t i = 0; i < 8; ++i) a.SetValue(i, 2.0f);  // the other access
  SetFlag<HardEvent::S_V>(EVENT_ID0), WaitFlag<HardEvent::S_V>(EVENT_ID0);
  Adds(b, a, 1.0f, 8);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, b, 8);
}
