// EnQue and DeQue name the same positions.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void queue_event_differs_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 2> queue;
  pipe.InitBuffer(queue, 2, 256);
  GlobalTensor<float> in;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> a = queue.AllocTensor<float>();
  DataCopy(a, in, 64);
  queue.EnQue<TPosition::GM, TPosition::VECIN>(a);
  a = queue.DeQue<TPosition::VECOUT, TPosition::GM, float>();  // expect: queue-event-differs
  queue.FreeTensor(a);
}
