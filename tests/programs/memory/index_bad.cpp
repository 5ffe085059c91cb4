// GetValue counts from 0.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_index_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Duplicate(t, 1.0f, 64);
  SetFlag<HardEvent::V_S>(EVENT_ID0);
  WaitFlag<HardEvent::V_S>(EVENT_ID0);
  t.SetValue(0, t.GetValue(64));  // expect: ub-index
}
