// Each tile is stored to a place of its own.
// roles: in out
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_stored_over_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECOUT, 2> queue;
  pipe.InitBuffer(queue, 2, 1024);
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  for (uint32_t tile = 0; tile < 4; ++tile) {
    LocalTensor<float> a = queue.AllocTensor<float>();
    Duplicate(a, 1.0f, 256);
    queue.EnQue(a);
    a = queue.DeQue<float>();
    DataCopy(out, a, 256);  // expect: gm-not-written
    PipeBarrier<PIPE_MTE3>();
    queue.FreeTensor(a);
  }
}
