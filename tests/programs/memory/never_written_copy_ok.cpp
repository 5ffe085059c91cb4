// A tensor that is copied out must hold values.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_never_written_copy_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  TBuf<TPosition::VECCALC> bBuffer;
  pipe.InitBuffer(bBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  LocalTensor<float> b = bBuffer.Get<float>();
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(a, 1.0f, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, a, 64);
}
