// An index stays inside a placed tensor.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void placed_index_ok(GM_ADDR x, GM_ADDR y) {
  LocalTensor<float> a(TPosition::VECCALC, 0, 64);
  LocalTensor<float> b(TPosition::VECCALC, 256, 64);
  a.SetValue(63, 1.0f);
  b.SetValue(0, 1.0f);
}
