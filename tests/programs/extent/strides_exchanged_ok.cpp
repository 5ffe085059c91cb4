// Rows times one row of factors: the source whose repeat stride is 0 is read again in every repeat.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_strides_exchanged_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> rows, one, results;
  pipe.InitBuffer(rows, 8 * 64 * sizeof(float));
  pipe.InitBuffer(one, 64 * sizeof(float));
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
