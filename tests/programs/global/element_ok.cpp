// The scalar unit is checked too.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_element_ok(GM_ADDR x, GM_ADDR y) {
  GlobalTensor<float> g;
  g.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  g.GetValue(1023);
}
