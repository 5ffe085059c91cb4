// What only passes through needs a queue that is both: VECIN orders the copy in before instructions.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_queue_of_one_side_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> tiles;
  pipe.InitBuffer(tiles, 1, 1024);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = tiles.AllocTensor<float>();
  DataCopy(a, xGm, 256);  // the other access
  tiles.EnQue(a);
  a = tiles.DeQue<float>();
  DataCopy(yGm, a, 256);  // expect: race-read-after-write
  tiles.FreeTensor(a);
}
