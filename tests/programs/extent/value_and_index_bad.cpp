// WholeReduceMax writes values and indices unless it is told not to.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_value_and_index_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> rows, best;
  pipe.InitBuffer(rows, 8 * 64 * sizeof(float));
  pipe.InitBuffer(best, 8 * sizeof(float));
  LocalTensor<float> row = rows.Get<float>();
  LocalTensor<float> most = best.Get<float>();
  Duplicate(row, 1.0f, 8 * 64);
  Duplicate(row, 0.0f, 8);
  WholeReduceMax(most, row, 64, 8, 1, 1, 8);  // expect: ub-out-of-bounds
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, most, 8);
}
