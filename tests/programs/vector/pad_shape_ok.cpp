// Pad makes rows as long as their 32-byte blocks, not longer.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_pad_shape_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 65536);
  LocalTensor<float> a = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 512);
  Duplicate(b, 1.0f, 64);
  PadTiling tiling;
  tiling.srcHeight = 8;
  tiling.srcWidth = tiling.srcOriWidth = 7;
  PadParams left{0, 1, 5}, both{1, 1, 5};
  Pad(a, b, left, tiling);
}
