// Every second block is computed while the others are copied out: no byte in common.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_block_stride_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(a, 2.0f, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  uint64_t mask[2] = {(1ul << 32) - 1, 0};
  Adds(a, a, 1.0f, mask, 1, {2, 2, 8, 8});  // the other access
  const DataCopyParams rows(3, 1, 1, 0);
  DataCopy(yGm, a[16], rows);  // expect: race-read-after-write
}
