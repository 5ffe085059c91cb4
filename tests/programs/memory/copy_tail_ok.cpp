// A copy of whole blocks stores what lies behind the last value, too.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_copy_tail_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(a, 1.0f, 61);
  Duplicate(a[128], 2.0f, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, a, 56);
  PipeBarrier<PIPE_MTE3>();
  DataCopy(out[56], a[128], 64);
}
