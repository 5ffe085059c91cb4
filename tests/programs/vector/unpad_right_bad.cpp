// UnPad takes columns off the right side.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_unpad_right_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 65536);
  LocalTensor<float> a = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 512);
  Duplicate(b, 1.0f, 64);
  UnPadTiling tiling;
  tiling.srcHeight = 8;
  tiling.srcWidth = 8;
  UnPadParams none{0, 0}, one{0, 1};
  UnPad(a, b, none, tiling);  // expect: unpad-right
}
