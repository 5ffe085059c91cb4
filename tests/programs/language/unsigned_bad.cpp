// A loop that counts down, with an unsigned number.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_unsigned_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> row = buffer.Get<float>();
  uint32_t left = 64;
  while (left >= 0) {  // expect: language-unsigned
    Duplicate(row, 1.0f, left);
    left = left - 16;
    if (left == 0) break;
  }
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, row, 64);
}
