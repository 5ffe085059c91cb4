// A barrier puts two copies in order, and the offset of the second stays wrong.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_overwritten_half_load_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 1024);
  pipe.InitBuffer(bBuf, 1024);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  DataCopy(a, xGm, 128);
  PipeBarrier<PIPE_MTE2>();
  DataCopy(a[128], xGm[128], 128);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0), WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(yGm, a, 192);
}
