// The square root of a negative number is NaN, and NaN is stored.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void precision_negative_root_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf;
  pipe.InitBuffer(aBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  DataCopy(a, xGm, 64);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0), WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(a, a, -10.0f, 64);
  Sqrt(a, a, 64);  // expect: nan-from-numbers
  Adds(a, a, 1.0f, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, a, 64);
}
