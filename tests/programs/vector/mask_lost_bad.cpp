// A mask that an instruction with a number of elements overwrites before it is used.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_mask_lost_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf;
  pipe.InitBuffer(aBuf, 1024);
  LocalTensor<float> a = aBuf.Get<float>();
  Duplicate(a, 1.0f, 256);
  SetVectorMask<float, MaskMode::NORMAL>(0, 0xff);
  Adds<float, true>(a, a, 1.0f, 64, 4, UnaryRepeatParams(1, 1, 8, 8));  // the other access
  Muls<float, false>(a, a, -1.0f, MASK_PLACEHOLDER, 4, UnaryRepeatParams(1, 1, 8, 8));  // expect: mask-lost
}
