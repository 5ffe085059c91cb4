// Without a queue the kernel sets the flag and waits for it.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_no_queue_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1024);
  GlobalTensor<float> xGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> a = buffer.Get<float>();
  DataCopy(a, xGm, 128);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0), WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(a[128], a, 1.0f, 128);
}
