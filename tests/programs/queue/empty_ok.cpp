// DeQue needs an EnQue before it.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void queue_empty_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  LocalTensor<float> a = queue.AllocTensor<float>();
  queue.EnQue(a);
  a = queue.DeQue<float>();
  queue.FreeTensor(a);
}
