// FreeTensor comes after the last instruction that uses the tensor: the next copy goes there.
// delayed: wrong numbers
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_freed_too_early_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  TBuf<TPosition::VECCALC> outBuf;
  pipe.InitBuffer(queue, 1, 256);
  pipe.InitBuffer(outBuf, 256);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> out = outBuf.Get<float>();
  LocalTensor<float> in = queue.AllocTensor<float>();
  DataCopy(in, xGm, 64);
  queue.EnQue(in);
  in = queue.DeQue<float>();
  Adds(out, in, 2.0f, 64);
  queue.FreeTensor(in);
  in = queue.AllocTensor<float>();
  DataCopy(in, xGm[64], 64);  // the other access
  queue.EnQue(in);
  Add(out, out, out, 64);
  in = queue.DeQue<float>();
  queue.FreeTensor(in);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID1), WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
  DataCopy(yGm, out, 64);
}
