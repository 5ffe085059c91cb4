// A float above 65504 has no half.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void precision_cast_overflow_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> wide;
  TBuf<TPosition::VECCALC> narrow;
  pipe.InitBuffer(wide, 256);
  pipe.InitBuffer(narrow, 128);
  LocalTensor<float> a = wide.Get<float>();
  LocalTensor<half> b = narrow.Get<half>();
  Duplicate(a, 66000.0f, 64);
  Cast(b, a, RoundMode::CAST_RINT, 64);  // expect: half-overflow
}
