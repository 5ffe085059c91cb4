// An instruction stays inside a placed tensor.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void placed_out_of_bounds_bad(GM_ADDR x, GM_ADDR y) {
  LocalTensor<float> a(TPosition::VECCALC, 0, 64);
  LocalTensor<float> b(TPosition::VECCALC, 256, 64);
  Duplicate(b, 1.0f, 64);
  Adds(a, b, 1.0f, 72);  // expect: static-out-of-bounds
}
