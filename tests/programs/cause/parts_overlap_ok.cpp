// Each block begins where the one before it ends.
// blocks: 2
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_parts_overlap_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  const uint32_t begin = 192 * GetBlockIdx();
  for (uint32_t at = begin; at < begin + 192; at += 64) {
    LocalTensor<float> a = queue.AllocTensor<float>();
    Duplicate(a, static_cast<float>(at + GetBlockIdx()), 64);
    queue.EnQue(a);
    a = queue.DeQue<float>();
    DataCopy(yGm[at], a, 64);
    queue.FreeTensor(a);
  }
}
