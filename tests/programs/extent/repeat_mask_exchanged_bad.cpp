// BlockReduceSum takes the number of repeats before the mask.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_repeat_mask_exchanged_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> rows, sums;
  pipe.InitBuffer(rows, 8 * 64 * sizeof(float));
  pipe.InitBuffer(sums, 64 * sizeof(float));
  LocalTensor<float> row = rows.Get<float>();
  LocalTensor<float> sum = sums.Get<float>();
  Duplicate(row, 1.0f, 8 * 64);
  BlockReduceSum(sum, row, 64, 8, 1, 1, 8);  // expect: ub-out-of-bounds
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, sum, 64);
}
