// A tensor is freed once.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void queue_double_free_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 2, 256);
  LocalTensor<float> a = queue.AllocTensor<float>();
  LocalTensor<float> b = queue.AllocTensor<float>();
  queue.FreeTensor(a);
  queue.FreeTensor(a);  // expect: queue-wrong-state
}
