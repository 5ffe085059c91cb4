// An id for a flag of the kernel that a queue is not to use is reserved.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_set_by_queue_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  GlobalTensor<float> in;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> a = queue.AllocTensor<float>();
  DataCopy(a, in, 64);
  const TEventID id = pipe.AllocEventID<HardEvent::MTE2_V>();
  SetFlag<HardEvent::MTE2_V>(id);
  queue.EnQue(a);
  WaitFlag<HardEvent::MTE2_V>(id);
  a = queue.DeQue<float>();
  queue.FreeTensor(a);
}
