// A share that begins where SetGlobalBuffer says, and is added to the offset once more.
// blocks: 2
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_start_twice_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> tiles;
  pipe.InitBuffer(tiles, 1, 1024);
  GlobalTensor<float> xGm, yGm;
  const uint32_t share = 256, begin = GetBlockIdx() * share;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x) + begin, share);
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y) + begin, share);
  LocalTensor<float> a = tiles.AllocTensor<float>();
  DataCopy(a, xGm[0], share);
  tiles.EnQue(a);
  a = tiles.DeQue<float>();
  DataCopy(yGm, a, share);
  tiles.FreeTensor(a);
}
