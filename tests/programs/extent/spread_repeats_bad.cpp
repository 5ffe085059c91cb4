// A repeat of Brcb for each element: it spreads eight of them.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_spread_repeats_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, wideBuf;
  pipe.InitBuffer(aBuf, 64);
  pipe.InitBuffer(wideBuf, 512);
  LocalTensor<float> a = aBuf.Get<float>(), wide = wideBuf.Get<float>();
  Duplicate(a, 1.0f, 16);
  Brcb(wide, a, 16, BrcbRepeatParams(1, 8));  // expect: ub-out-of-bounds
}
