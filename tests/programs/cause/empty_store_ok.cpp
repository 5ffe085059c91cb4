// 65536 bytes do not fit in 16 bits: nothing is stored.
// roles: in out
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_empty_store_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 4096);
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = buffer.Get<float>();
  Duplicate(a, 1.0f, 1024);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  const uint16_t bytes = static_cast<uint16_t>(4096);
  DataCopyPad(yGm, a, DataCopyExtParams(1, bytes, 0, 0, 0));
}
