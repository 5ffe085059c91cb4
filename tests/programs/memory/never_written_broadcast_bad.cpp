// Sums of rows that read beyond what was computed: Brcb carries what they lack into the quotients.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_never_written_broadcast_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> rowsBuffer, sumsBuffer, blocksBuffer;
  pipe.InitBuffer(rowsBuffer, 8 * 256);
  pipe.InitBuffer(sumsBuffer, 32);
  pipe.InitBuffer(blocksBuffer, 256);
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> rows = rowsBuffer.Get<float>();
  LocalTensor<float> sums = sumsBuffer.Get<float>();
  LocalTensor<float> blocks = blocksBuffer.Get<float>();
  Duplicate(rows, 2.0f, 48, 8, 1, 8);
  WholeReduceSum(sums, rows, 64, 8, 1, 1, 8);  // expect: ub-never-written
  Brcb(blocks, sums, 1, {1, 8});
  Div(rows, rows, blocks, 48, 8, {1, 1, 0, 8, 8, 1});
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopyPad(yGm, rows, DataCopyExtParams{8, 192, 2, 0, 0});
}
