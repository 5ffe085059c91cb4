// The tensor that was dequeued has arrived; the next one, already on its way, has not.
// delayed: wrong numbers
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_double_buffer_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 2> queue;
  TBuf<TPosition::VECCALC> outBuf;
  pipe.InitBuffer(queue, 2, 256);
  pipe.InitBuffer(outBuf, 256);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> out = outBuf.Get<float>();
  LocalTensor<float> first = queue.AllocTensor<float>();
  DataCopy(first, xGm, 64);
  queue.EnQue(first);
  LocalTensor<float> next = queue.AllocTensor<float>();
  DataCopy(next, xGm[64], 64);  // the other access
  queue.EnQue(next);
  LocalTensor<float> in = queue.DeQue<float>();
  Adds(out, next, 1.0f, 64);  // expect: race-read-after-write
  queue.FreeTensor(in);
  next = queue.DeQue<float>();
  queue.FreeTensor(next);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID1), WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
  DataCopy(yGm, out, 64);
}
