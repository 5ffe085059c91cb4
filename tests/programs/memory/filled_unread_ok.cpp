// A constant that is filled in over a result which nobody has read yet.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_filled_unread_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> first, second, third;
  pipe.InitBuffer(first, 256);
  pipe.InitBuffer(second, 256);
  pipe.InitBuffer(third, 256);
  LocalTensor<float> a = first.Get<float>();
  LocalTensor<float> b = second.Get<float>();
  LocalTensor<float> c = third.Get<float>();
  Duplicate(a, 2.0f, 64);
  Duplicate(c, 0.0f, 64);
  Exp(b, a, 64);
  Duplicate(c, 1.0f, 64);
  Div(c, c, b, 64);
}
