// A buffer for as many elements of another type.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_buffer_of_smaller_type_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> narrow, wide;
  pipe.InitBuffer(narrow, 128 * sizeof(half));
  pipe.InitBuffer(wide, 128 * sizeof(half));
  LocalTensor<half> h = narrow.Get<half>();
  LocalTensor<float> f = wide.Get<float>();
  Duplicate(h, half(1.0f), 128);
  Cast(f, h, RoundMode::CAST_NONE, 128);  // expect: ub-out-of-bounds
}
