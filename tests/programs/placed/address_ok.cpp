// The end of a placed tensor lies inside the Unified Buffer.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void placed_address_ok(GM_ADDR x, GM_ADDR y) {
  LocalTensor<float> a(TPosition::VECCALC, 192 * 1024 - 32, 8);
  a.SetValue(0, 1.0f);
}
