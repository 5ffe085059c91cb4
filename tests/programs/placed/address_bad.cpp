// The end of a placed tensor lies inside the Unified Buffer.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void placed_address_bad(GM_ADDR x, GM_ADDR y) {
  LocalTensor<float> a(TPosition::VECCALC, 192 * 1024 - 32, 16);  // expect: static-overflow
  a.SetValue(0, 1.0f);
}
