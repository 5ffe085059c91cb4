// A tensor goes back to the queue it came from.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void queue_foreign_tensor_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  TQue<TPosition::VECOUT, 1> other;
  pipe.InitBuffer(queue, 1, 256);
  pipe.InitBuffer(other, 1, 256);
  LocalTensor<float> a = queue.AllocTensor<float>();
  other.FreeTensor(a);  // expect: queue-foreign-tensor
}
