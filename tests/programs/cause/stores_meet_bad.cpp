// The last, shorter part begins where the one before it ends.
// roles: in out
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_stores_meet_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECOUT, 2> queue;
  pipe.InitBuffer(queue, 2, 3200);
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  for (uint32_t part = 0; part < 2; ++part) {
    const uint32_t length = part == 0 ? 800 : 224;
    LocalTensor<float> a = queue.AllocTensor<float>();
    Duplicate(a, 1.0f, length);
    queue.EnQue(a);
    a = queue.DeQue<float>();
    DataCopy(out[part * length], a, length);  // expect: race-same-pipe  // also: gm-not-written
    queue.FreeTensor(a);
  }
}
