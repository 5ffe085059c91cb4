// The scalar unit must not use a tensor after FreeTensor, either.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_scalar_after_free_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 2, 256);
  LocalTensor<float> a = queue.AllocTensor<float>();
  LocalTensor<float> b = queue.AllocTensor<float>();
  a.SetValue(0, 1.0f);
  b.SetValue(0, 1.0f);
  queue.FreeTensor(a);
  b.SetValue(1, 2.0f);
  a = queue.AllocTensor<float>();
  queue.FreeTensor(a);
  queue.FreeTensor(b);
}
