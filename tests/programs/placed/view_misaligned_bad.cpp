// Vector operands start on a 32-byte boundary.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void placed_view_misaligned_bad(GM_ADDR x, GM_ADDR y) {
  LocalTensor<float> a(TPosition::VECCALC, 0, 64);
  LocalTensor<float> b(TPosition::VECCALC, 256, 64);
  Duplicate(b, 1.0f, 64);
  Adds(a, b[4], 1.0f, 32);  // expect: static-misaligned
}
