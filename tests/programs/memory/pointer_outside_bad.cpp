// A pointer of GetPhyAddr with an index that is a number of bytes: it writes into the buffer behind.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_pointer_outside_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>();
  LocalTensor<float> b = bBuf.Get<float>();
  Duplicate(b, 1.0f, 64);
  SetFlag<HardEvent::V_S>(EVENT_ID0);
  WaitFlag<HardEvent::V_S>(EVENT_ID0);
  __ubuf__ float* at = a.GetPhyAddr();
  for (uint32_t i = 0; i < 64; ++i) at[i] = 2.0f;
  at[64] = 3.0f;  // expect: ub-pointer-outside
  SetFlag<HardEvent::S_V>(EVENT_ID0);
  WaitFlag<HardEvent::S_V>(EVENT_ID0);
  Adds(b, b, 1.0f, 64);
}
