// SoftMax without the largest number taken off first: infinity divided by infinity.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_exp_overflow_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf;
  pipe.InitBuffer(aBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  DataCopy(a, xGm[200], 64);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0), WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(a, a, 0.0f, 64);
  Exp(a, a, 64);     // the cause
  Div(a, a, a, 64);  // expect: nan-from-numbers
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, a, 64);
}
