// A sum of four bytes is stored while the next one is computed into the same block of 32 bytes.
// delayed: wrong numbers
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_bytes_of_one_block_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(a, 2.0f, 64);
  WholeReduceSum(b, a, 64, 1, 1, 1, 8);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopyPad(yGm, b, DataCopyExtParams{1, 4, 0, 0, 0});  // the other access
  WholeReduceSum(b[1], a, 32, 1, 1, 1, 8);
}
