// The operators of LocalTensor work on whole tensors.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_operator_on_element_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer, second;
  pipe.InitBuffer(buffer, 256);
  pipe.InitBuffer(second, 256);
  LocalTensor<float> a = buffer.Get<float>();
  LocalTensor<float> b = second.Get<float>();
  Duplicate(a, 1.0f, 64);
  for (uint32_t i = 1; i < 2; ++i) {
    b = a + a;
  }
  GlobalTensor<float> to;
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(to, a, 64);
}
