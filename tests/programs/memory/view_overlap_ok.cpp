// The offset of GetWithOffset counts bytes, not elements.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_view_overlap_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 4096);
  LocalTensor<float> first = buffer.Get<float>(256);
  LocalTensor<float> second = buffer.GetWithOffset<float>(256, 256 * sizeof(float));
  Duplicate(first, 1.0f, 256);
  Duplicate(second, 2.0f, 256);
  Add(first, first, second, 256);
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, first, 256);
}
