// The message names the buffer, although two are made in one line.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_two_on_a_line_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> wide, narrow;
  pipe.InitBuffer(wide, 1024), pipe.InitBuffer(narrow, 512);
  LocalTensor<float> a = wide.Get<float>();
  LocalTensor<float> b = narrow.Get<float>();
  Duplicate(a, 1.0f, 256);
  Duplicate(b, 1.0f, 256);  // expect: ub-out-of-bounds
}
