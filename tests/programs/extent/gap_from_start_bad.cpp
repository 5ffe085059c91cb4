// The stride of a copy in global memory is a gap, and not the distance of two rows.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_gap_from_start_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> tiles;
  pipe.InitBuffer(tiles, 1, 2048);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = tiles.AllocTensor<float>();
  DataCopyPad(a, xGm, DataCopyExtParams(16, 128, 256, 0, 0), {false, 0, 0, 0.0f});  // expect: gm-out-of-bounds
  tiles.EnQue(a);
  a = tiles.DeQue<float>();
  DataCopy(yGm, a, 512);
  tiles.FreeTensor(a);
}
