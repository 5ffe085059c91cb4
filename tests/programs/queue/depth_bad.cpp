// The depth limits how many tensors are enqueued at once.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void queue_depth_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 2, 256);
  LocalTensor<float> a = queue.AllocTensor<float>();
  LocalTensor<float> b = queue.AllocTensor<float>();
  queue.EnQue(a);
  queue.EnQue(b);  // expect: queue-depth
  a = queue.DeQue<float>();
  b = queue.DeQue<float>();
  queue.FreeTensor(a);
  queue.FreeTensor(b);
}
