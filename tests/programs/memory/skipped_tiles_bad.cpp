// Tiles of two buffers are brought in, and some, or none, are looked at.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_skipped_tiles_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  TBuf<TPosition::VECCALC> sums;
  pipe.InitBuffer(queue, 2, 256);
  pipe.InitBuffer(sums, 256);
  GlobalTensor<float> xGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> sum = sums.Get<float>();
  Duplicate(sum, 0.0f, 64);
  for (uint32_t i = 0; i < 8; ++i) {
    LocalTensor<float> a = queue.AllocTensor<float>();
    DataCopy(a, xGm[i * 64], 64);  // expect: ub-overwritten-unread
    queue.EnQue(a);
    a = queue.DeQue<float>();
    if (i == 8) Add(sum, sum, a, 64);
    queue.FreeTensor(a);
  }
}
