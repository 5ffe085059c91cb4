// A tile that is only copied: the way out waits for the way in.
// delayed: wrong numbers
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_copy_through_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  DataCopy(a, xGm[64], 64);  // the other access
  PipeBarrier<PIPE_MTE2>();
  DataCopy(yGm, a, 64);  // expect: race-read-after-write
}
