// 256 repeats are 0 in 8 bits: the instruction does nothing.
// roles: in out
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_nothing_done_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 4096);
  GlobalTensor<int16_t> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ int16_t*>(y));
  LocalTensor<int16_t> a = buffer.Get<int16_t>();
  const uint32_t repeats = 2048 / 16;
  Duplicate(a, static_cast<int16_t>(1), 16, static_cast<uint8_t>(repeats), 1, 1);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, a, 2048);
}
