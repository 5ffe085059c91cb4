// The scalar unit finds garbage there, too.
// roles: in workspace
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_workspace_scalar_ok(GM_ADDR x, GM_ADDR y) {
  GlobalTensor<float> work;
  work.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  work.SetValue(0, 1.0f);
  work.SetValue(1, work.GetValue(0));
}
