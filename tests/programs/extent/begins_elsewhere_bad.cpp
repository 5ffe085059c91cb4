// The second part begins where the instruction that reads it looks for it.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_begins_elsewhere_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 2048);
  LocalTensor<float> a = buffer.Get<float>();
  Duplicate(a, 1.0f, 200);
  Duplicate(a[200], 2.0f, 200);
  Add(a, a, a[256], 200);        // expect: ub-never-written
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, a, 200);
}
