// What is enqueued is dequeued before the block ends.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void queue_never_dequeued_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 2> queue;
  pipe.InitBuffer(queue, 2, 256);
  GlobalTensor<float> in;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> a = queue.AllocTensor<float>();
  DataCopy(a, in, 64);
  queue.EnQue(a);
  LocalTensor<float> b = queue.AllocTensor<float>();
  DataCopy(b, in, 64);
  queue.EnQue(b);  // expect: queue-never-dequeued
  b = queue.DeQue<float>();
  queue.FreeTensor(b);
}
