// The software SyncAll takes its event ids from the TPipe.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void sync_without_pipe_bad(GM_ADDR x, GM_ADDR y) {
  GlobalTensor<int32_t> slots;
  slots.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(y));
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 64);
  LocalTensor<int32_t> local = buffer.Get<int32_t>();
  pipe.Destroy();
  SyncAll(slots, local);  // expect: sync-all-without-pipe
}
