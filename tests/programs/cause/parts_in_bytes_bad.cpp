// Each block begins where the one before it ends.
// blocks: 2
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_parts_in_bytes_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 512);
  LocalTensor<float> a = buffer.Get<float>();
  Duplicate(a, 1.0f + GetBlockIdx(), 128);
  GlobalTensor<float> to;
  to.SetGlobalBuffer((__gm__ float*)(y + 128 * GetBlockIdx()));
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(to, a, 128);  // expect: race-blocks
}
