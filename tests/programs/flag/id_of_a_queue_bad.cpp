// A fixed event id may be one that a queue holds.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_id_of_a_queue_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 2> queue;
  pipe.InitBuffer(queue, 2, 256);
  GlobalTensor<float> in;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> a = queue.AllocTensor<float>();
  DataCopy(a, in, 64);
  queue.EnQue(a);
  const TEventID id = EVENT_ID0;
  SetFlag<HardEvent::MTE2_V>(id);  // expect: flag-set-twice
  WaitFlag<HardEvent::MTE2_V>(id);
  a = queue.DeQue<float>();
  queue.FreeTensor(a);
}
