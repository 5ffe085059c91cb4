// Repeats that write one behind the other are 8 blocks apart; with stride 0 all write the same place.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_repeat_stride_0_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inputs;
  TQue<TPosition::VECOUT, 1> outputs;
  pipe.InitBuffer(inputs, 1, 1024);
  pipe.InitBuffer(outputs, 1, 1024);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = inputs.AllocTensor<float>();
  DataCopy(a, xGm, 256);
  inputs.EnQue(a);
  a = inputs.DeQue<float>();
  LocalTensor<float> b = outputs.AllocTensor<float>();
  Adds(b, a, 1.0f, 64, 4, {1, 1, 8, 8});
  outputs.EnQue(b);
  b = outputs.DeQue<float>();
  DataCopy(yGm, b, 256);
  outputs.FreeTensor(b);
  inputs.FreeTensor(a);
}
