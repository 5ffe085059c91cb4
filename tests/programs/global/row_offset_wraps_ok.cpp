// The first element of a row in 8 bits: 384 is taken for 128.
// roles: in out
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_row_offset_wraps_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 384);
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = buffer.Get<float>();
  Duplicate(a, 1.0f, 96);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  for (uint32_t from = 0; from < 1024; from += 96) {
    const uint32_t offset = from & 2047;
    DataCopy(yGm[offset], a, from + 96 < 1024 ? 96 : 1024 - from);
    PipeBarrier<PIPE_MTE3>();
  }
}
