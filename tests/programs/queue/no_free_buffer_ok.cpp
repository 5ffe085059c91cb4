// AllocTensor needs a free buffer: on the device it waits for ever.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void queue_no_free_buffer_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 2, 256);
  LocalTensor<float> a = queue.AllocTensor<float>();
  LocalTensor<float> b = queue.AllocTensor<float>();
  queue.FreeTensor(a);
  queue.FreeTensor(b);
}
