// Other bytes for the same numbers: that is Cast, and not ReinterpretCast.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_reinterpreted_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> narrow, wide;
  pipe.InitBuffer(narrow, 256);
  pipe.InitBuffer(wide, 512);
  LocalTensor<half> h = narrow.Get<half>();
  LocalTensor<float> f = wide.Get<float>();
  Duplicate(h, half(1.0f), 128);
  Muls(f, h.ReinterpretCast<float>(), 2.0f, 128);  // expect: ub-out-of-bounds
  Adds(f, f, 1.0f, 128);
}
