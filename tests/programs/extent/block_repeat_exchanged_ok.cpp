// Parameters of repeats have the block strides first.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_block_repeat_exchanged_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer, bBuffer;
  pipe.InitBuffer(aBuffer, 2048);
  pipe.InitBuffer(bBuffer, 2048);
  LocalTensor<float> a = aBuffer.Get<float>();
  LocalTensor<float> b = bBuffer.Get<float>();
  Duplicate(a, 1.0f, 512);
  Add(b, a, a, 64, 2, {1, 1, 1, 8, 8, 8});
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, b, 128);
}
