// The workspace holds garbage when a kernel starts.
// roles: in workspace
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_workspace_garbage_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  GlobalTensor<float> work;
  work.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(a, 1.0f, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(work, a, 64);
  SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
  WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
  DataCopy(a, work, 64);
}
