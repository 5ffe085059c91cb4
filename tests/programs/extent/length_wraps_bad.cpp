// A length of DataCopyParams has 16 bits: 65792 bytes are 256 of them.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_length_wraps_bad(GM_ADDR x, GM_ADDR y) {
  const int32_t count = 32896;
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  TBuf<TPosition::VECCALC> results;
  pipe.InitBuffer(buffer, 65792);
  pipe.InitBuffer(results, 65792);
  GlobalTensor<half> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y));
  LocalTensor<half> a = buffer.Get<half>();
  LocalTensor<half> b = results.Get<half>();
  DataCopyPad(a, xGm, DataCopyParams{1, static_cast<uint16_t>(count * sizeof(half)), 0, 0}, DataCopyPadParams{});
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0), WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(b, a, half(1.0f), count);  // expect: ub-never-written
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, b, count < 2048 ? count : 2048);
}
