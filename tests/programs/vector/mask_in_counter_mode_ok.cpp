// In counter mode the register holds a number of elements.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_mask_in_counter_mode_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  Duplicate(a, 1.0f, 256);
  SetMaskCount();
  SetVectorMask<float, MaskMode::COUNTER>(100);
  Adds<float, false>(a, a, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
  SetMaskNorm();
  ResetMask();
}
