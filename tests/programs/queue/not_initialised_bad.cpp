// InitBuffer comes before AllocTensor.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void queue_not_initialised_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  TQue<TPosition::VECIN, 1> other;
  pipe.InitBuffer(other, 1, 256);
  LocalTensor<float> a = queue.AllocTensor<float>();  // expect: queue-not-initialised
  queue.FreeTensor(a);
}
