// The offset of GetWithOffset counts bytes, not elements: 200 of them do not even begin at a block.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_view_in_elements_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 4096);
  LocalTensor<float> first = buffer.Get<float>(200);
  LocalTensor<float> second = buffer.GetWithOffset<float>(120, 200);  // the cause
  Duplicate(first, 1.0f, 200);
  Duplicate(second, 2.0f, 120);  // expect: ub-misaligned
  Add(first, first, second, 120);
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, first, 200);
}
