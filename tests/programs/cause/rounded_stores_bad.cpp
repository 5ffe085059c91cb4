// Rows of 12 floats, stored rounded up to 16: each overwrites the start of the next one.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_rounded_stores_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = buffer.Get<float>();
  Duplicate(a, 1.0f, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  for (uint32_t row = 0; row < 4; ++row) {
    DataCopy(yGm[row * 12], a, 16);  // expect: race-same-pipe
  }
}
