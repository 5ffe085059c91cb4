// Every element of an output is written.
// roles: in out
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_not_written_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 4096);
  LocalTensor<float> a = aBuffer.Get<float>();
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(a, 1.0f, 1024);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, a, 1000);  // expect: gm-not-written
}
