// FreeTensor is the last use of a tensor: what takes the buffer next does not wait for later ones.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_use_after_free_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 2, 256);
  LocalTensor<float> a = queue.AllocTensor<float>();
  LocalTensor<float> b = queue.AllocTensor<float>();
  queue.FreeTensor(b);
  Adds(a, a, 1.0f, 8);
  b = queue.AllocTensor<float>();
  queue.FreeTensor(a);
  queue.FreeTensor(b);
}
