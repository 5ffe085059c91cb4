// An unsigned index that counts down below zero.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_wrapped_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> row = buffer.Get<float>();
  for (uint32_t i = 63, none = -1; i != none - 1; --i) {
    row.SetValue(i, 1.0f);  // expect: ub-index
  }
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y);
  SetFlag<HardEvent::S_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::S_MTE3>(EVENT_ID0);
  DataCopy(out, row, 64);
}
