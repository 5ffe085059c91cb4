// Rows 256 bytes apart, of which the mask takes 192: the copy out has to leave out the gap as well.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_gap_copied_out_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 8 * 256);
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> rows = buffer.Get<float>();
  Duplicate(rows, 2.0f, 48, 8, 1, 8);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopyPad(yGm, rows, DataCopyExtParams{8, 192, 2, 0, 0});
}
