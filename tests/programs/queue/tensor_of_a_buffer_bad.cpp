// A tensor of a TBuf belongs to no queue.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void queue_tensor_of_a_buffer_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> queue;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(queue, 1, 256);
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> a = buffer.Get<float>();
  Duplicate(a, 1.0f, 64);
  queue.EnQue(a);  // expect: queue-foreign-tensor
  a = queue.DeQue<float>();
  queue.FreeTensor(a);
}
