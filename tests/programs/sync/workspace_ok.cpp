// The workspace of the software SyncAll is zero before the launch.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void sync_workspace_ok(GM_ADDR x, GM_ADDR y) {
  GlobalTensor<int32_t> slots;
  slots.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(y));
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 64);
  slots.SetValue(0, 0);
  SyncAll(slots, buffer.Get<int32_t>());
}
