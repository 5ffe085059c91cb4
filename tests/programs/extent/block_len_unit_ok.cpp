// DataCopy's blockLen counts blocks of 32 bytes, and not bytes.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_block_len_unit_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> tiles;
  pipe.InitBuffer(tiles, 1, 256);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = tiles.AllocTensor<float>();
  DataCopy(a, xGm, DataCopyParams(1, 64 * sizeof(float) / 32, 0, 0));
  tiles.EnQue(a);
  a = tiles.DeQue<float>();
  DataCopy(yGm, a, 64);
  tiles.FreeTensor(a);
}
