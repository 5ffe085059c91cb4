// A length of DataCopyParams has 16 bits: 65536 bytes are none of them.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_length_wraps_to_0_bad(GM_ADDR x, GM_ADDR y) {
  const int32_t count = 16384;
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer, results;
  pipe.InitBuffer(buffer, 65536);
  pipe.InitBuffer(results, 65536);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = buffer.Get<float>(), b = results.Get<float>();
  DataCopyPad(a, xGm, DataCopyParams(1, static_cast<uint16_t>(count * sizeof(float)), 0, 0), DataCopyPadParams());
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0), WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(b, a, 1.0f, count);  // expect: ub-never-written
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, b, 1024);
}
