// A tensor ends with its FreeTensor: AllocTensor gives its memory to another one, which other data fill.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_lent_again_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  LocalTensor<float> a = queue.AllocTensor<float>();
  Duplicate(a, 1.0f, 64);
  queue.FreeTensor(a);
  LocalTensor<float> b = queue.AllocTensor<float>();
  Duplicate(b, 2.0f, 64);
  Adds(a, a, 1.0f, 64);  // expect: ub-use-after-free
  queue.FreeTensor(b);
}
