// The scalar unit needs values, too.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_never_written_scalar_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  Duplicate(a, 1.0f, 8);
  SetFlag<HardEvent::V_S>(EVENT_ID0);
  WaitFlag<HardEvent::V_S>(EVENT_ID0);
  a.SetValue(0, a.GetValue(7));
}
