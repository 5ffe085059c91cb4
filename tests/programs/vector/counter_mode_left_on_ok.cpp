// All lanes of a mask are a number of billions in counter mode.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_counter_mode_left_on_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 512);
  LocalTensor<float> a = buffer.Get<float>();
  SetMaskCount();
  SetVectorMask<float, MaskMode::COUNTER>(128);
  Duplicate<float, false>(a, 1.0f, MASK_PLACEHOLDER, 1, 1, 8);
  SetMaskNorm();
  Adds(a, a, 1.0f, 64, 2, {1, 1, 8, 8});
  SetMaskNorm();
}
