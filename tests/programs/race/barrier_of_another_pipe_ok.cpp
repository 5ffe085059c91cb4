// A barrier makes a pipe wait for itself; only PIPE_ALL makes it wait for the others.
// delayed: wrong numbers
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_barrier_of_another_pipe_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  DataCopy(a, xGm, 64);  // the other access
  PipeBarrier<PIPE_ALL>();
  Adds(b, a, 1.0f, 64);
  PipeBarrier<PIPE_ALL>();
  DataCopy(yGm, b, 64);
}
