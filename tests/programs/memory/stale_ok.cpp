// AllocTensor clears nothing: a shorter tile leaves the end of the one before it.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_stale_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  for (uint32_t tile = 0; tile < 2; ++tile) {
    LocalTensor<float> a = queue.AllocTensor<float>();
    const uint32_t count = 64 - 32 * tile;
    Duplicate(a, 1.0f, count);
    queue.EnQue(a);
    a = queue.DeQue<float>();
    DataCopy(out[64 * tile], a, count);
    queue.FreeTensor(a);
  }
}
