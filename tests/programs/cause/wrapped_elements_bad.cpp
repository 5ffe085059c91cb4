// The element before the first: 0 - 8 in an unsigned number.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_wrapped_elements_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  pipe.InitBuffer(in, 1, 64 * sizeof(float));
  GlobalTensor<float> source, target;
  source.SetGlobalBuffer((__gm__ float*)x);
  target.SetGlobalBuffer((__gm__ float*)y);
  const uint32_t start = 0;
  LocalTensor<float> row = in.AllocTensor<float>();
  DataCopy(row, source[start - 8], 64);  // expect: gm-out-of-bounds
  in.EnQue(row);
  row = in.DeQue<float>();
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(target, row, 64);
  in.FreeTensor(row);
}
