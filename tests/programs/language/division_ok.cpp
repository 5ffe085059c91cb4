// The quotient of two whole numbers is a whole number.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_division_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> row = buffer.Get<float>();
  const uint32_t inRow = 64;
  const float scale = 1.0f / inRow;
  Duplicate(row, scale, inRow);
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, row, 64);
}
