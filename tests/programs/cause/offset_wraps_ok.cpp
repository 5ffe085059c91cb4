// The number of an element in 8 bits: element 256 is taken for element 0.
// roles: in out
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_offset_wraps_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = buffer.Get<float>();
  Duplicate(a, 1.0f, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  uint32_t at = 0;
  for (uint32_t tile = 0; tile < 16; ++tile, at += 64) {
    DataCopy(yGm[at], a, 64);
    PipeBarrier<PIPE_MTE3>();
  }
}
