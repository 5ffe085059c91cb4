// A SyncAll that a kernel leaves out of CPU builds is there: the macro of those is not defined.
// blocks: 2
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_sync_of_the_device_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  const uint32_t own = GetBlockIdx();
  Duplicate(a, own + 2.0f, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm[own * 64], a, 64);  // the other access
#ifndef __CCE_KT_TEST__
  PipeBarrier<PIPE_ALL>();
#endif
  DataCopy(b, yGm[(1 - own) * 64], 64);  // expect: race-blocks
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0), WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(yGm[(own + 2) * 64], b, 64);
}
