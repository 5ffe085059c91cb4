// The loop ends with the part of the array that this block may use.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_begins_behind_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  GlobalTensor<float> from, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 256);
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 512);
  for (uint32_t tile = 0; tile < 4; ++tile) {
    LocalTensor<float> a = queue.AllocTensor<float>();
    DataCopy(a, from[tile * 64], 64);
    queue.EnQue(a);
    a = queue.DeQue<float>();
    DataCopy(to[tile * 64], a, 64);
    queue.FreeTensor(a);
  }
}
