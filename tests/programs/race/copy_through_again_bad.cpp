// A tile that is only copied: the next way in waits for the way out.
// delayed: wrong numbers
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_copy_through_again_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  for (uint32_t at = 0; at < 128; at += 64) {
    DataCopy(a, xGm[at], 64);  // expect: race-write-after-read
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0), WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    DataCopy(yGm[at], a, 64);  // the other access
    PipeBarrier<PIPE_MTE3>();
  }
}
