// Two pipes that live at the same time hand out the same bytes.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_two_pipes_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> first, second, third;
  pipe.InitBuffer(first, 256);  // the cause
  LocalTensor<float> a = first.Get<float>();
  TPipe other;
  other.InitBuffer(second, 256);
  other.InitBuffer(third, 256);
  LocalTensor<float> b = second.Get<float>(), c = third.Get<float>();
  Duplicate(c, 1.0f, 64);
  Exp(a, c, 64);
  Muls(b, c, 3.0f, 64);  // expect: ub-overwritten-unread
  Add(c, a, b, 64);
}
