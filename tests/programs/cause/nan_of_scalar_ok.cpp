// A mean over no elements: the scalar unit divides 0 by 0.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_nan_of_scalar_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  DataCopy(a, xGm, 64);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0), WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  SetFlag<HardEvent::MTE2_S>(EVENT_ID0), WaitFlag<HardEvent::MTE2_S>(EVENT_ID0);
  const float sum = a.GetValue(0) - a.GetValue(0);
  const float mean = sum / (sum + 1.0f);
  Adds(b, a, mean, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, b, 64);
}
