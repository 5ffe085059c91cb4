// FreeTensor is the last use of a tensor, although nothing takes its buffer again here.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_use_of_freed_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 2, 256);
  LocalTensor<float> a = queue.AllocTensor<float>();
  LocalTensor<float> b = queue.AllocTensor<float>();
  queue.FreeTensor(b);
  Duplicate(b, 1.0f, 8);  // expect: ub-use-of-freed
  queue.FreeTensor(a);
}
