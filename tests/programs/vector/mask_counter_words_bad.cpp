// SetVectorMask takes the high word first: in counter mode the number of elements is the low one.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_mask_counter_words_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1024);
  LocalTensor<float> a = buffer.Get<float>();
  Duplicate(a, 1.0f, 256);
  SetMaskCount();
  SetVectorMask<float, MaskMode::COUNTER>(100, 0);  // expect: mask-counter-words
  Adds<float, false>(a, a, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
  SetMaskNorm();
  ResetMask();
}
