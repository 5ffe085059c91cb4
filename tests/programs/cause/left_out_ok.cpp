// What is copied out was computed: the tail has the same number of elements in both.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_left_out_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inputs;
  TQue<TPosition::VECOUT, 1> outputs;
  pipe.InitBuffer(inputs, 1, 1024);
  pipe.InitBuffer(outputs, 1, 1024);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = inputs.AllocTensor<float>();
  const uint32_t tail = 200;
  DataCopy(a, xGm, tail);
  inputs.EnQue(a);
  a = inputs.DeQue<float>();
  LocalTensor<float> b = outputs.AllocTensor<float>();
  Adds(b, a, 1.0f, tail);
  outputs.EnQue(b);
  b = outputs.DeQue<float>();
  DataCopy(yGm, b, tail);
  outputs.FreeTensor(b);
  inputs.FreeTensor(a);
}
