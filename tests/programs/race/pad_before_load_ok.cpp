// A tile that is filled before data arrive in it: the copy waits for the fill.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_pad_before_load_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(a, 0.0f, 64);  // the other access
  SetFlag<HardEvent::V_MTE2>(EVENT_ID0), WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
  DataCopy(a, xGm, 56);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID1), WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID1);
  DataCopy(yGm, a, 64);
}
