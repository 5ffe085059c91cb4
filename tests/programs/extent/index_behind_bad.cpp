// A copy brings the numbers of six channels; the index counts rows.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_index_behind_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECIN> scales;
  TBuf<TPosition::VECCALC> values;
  pipe.InitBuffer(scales, 256);
  pipe.InitBuffer(values, 256);
  GlobalTensor<float> xGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> scale = scales.Get<float>(), value = values.Get<float>();
  const uint32_t channels = 6, row = 8;
  DataCopyPad(scale, xGm, {1, 24, 0, 0, 0}, DataCopyPadExtParams<float>{false, 0, 0, 0.0f});
  SetFlag<HardEvent::MTE2_S>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_S>(EVENT_ID0);
  Duplicate(value, 1.0f, 64);
  Muls(value, value, scale.GetValue(row), 64);  // expect: ub-never-written
}
