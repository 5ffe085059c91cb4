// A gap in the Unified Buffer counts blocks of 32 bytes, also for DataCopyPad.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_gap_unit_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> tiles;
  pipe.InitBuffer(tiles, 1, 512);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = tiles.AllocTensor<float>();
  DataCopyPad(a, xGm, DataCopyExtParams(4, 64, 0, 64, 0), {false, 0, 0, 0.0f});  // expect: ub-out-of-bounds
  tiles.EnQue(a);
  a = tiles.DeQue<float>();
  DataCopy(yGm, a, 16);
  tiles.FreeTensor(a);
}
