// A loop that waits for a queue to fill: nothing but the program itself fills it.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void queue_polled_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  GlobalTensor<float> xGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> a = queue.AllocTensor<float>();
  DataCopy(a, xGm, 64);
  if (!queue.HasTensorInQue()) {
  }
  queue.EnQue(a);
  a = queue.DeQue<float>();
  queue.FreeTensor(a);
}
