// The same where the buffer has room for more than the one row that was filled.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_strides_exchanged_unwritten_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> rows, one, results;
  pipe.InitBuffer(rows, 8 * 64 * sizeof(float));
  pipe.InitBuffer(one, 8 * 64 * sizeof(float));
  pipe.InitBuffer(results, 8 * 64 * sizeof(float));
  LocalTensor<float> row = rows.Get<float>();
  LocalTensor<float> factor = one.Get<float>();
  LocalTensor<float> product = results.Get<float>();
  Duplicate(row, 1.0f, 8 * 64);
  Duplicate(factor, 2.0f, 64);
  Mul(product, row, factor, 64, 8, {1, 1, 1, 8, 8, 0});
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, product, 8 * 64);
}
