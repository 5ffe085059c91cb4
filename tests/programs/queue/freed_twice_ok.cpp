// The first of two FreeTensor is the wrong one: the tensor is used behind it.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void queue_freed_twice_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  LocalTensor<float> a = queue.AllocTensor<float>();
  Duplicate(a, 2.0f, 64);
  PipeBarrier<PIPE_V>();
  Adds(a, a, 1.0f, 64);
  queue.FreeTensor(a);
}
