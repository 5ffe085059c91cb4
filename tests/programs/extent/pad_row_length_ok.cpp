// The length of each of several rows of DataCopyPad counts bytes too.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_pad_row_length_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inputs;
  TQue<TPosition::VECOUT, 1> outputs;
  pipe.InitBuffer(inputs, 1, 2048);
  pipe.InitBuffer(outputs, 1, 2048);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = inputs.AllocTensor<float>();
  DataCopyPad(a, xGm, {4, 240, 0, 0, 0}, {false, 0, 0, 0});
  inputs.EnQue(a);
  a = inputs.DeQue<float>();
  LocalTensor<float> b = outputs.AllocTensor<float>();
  for (uint32_t row = 0; row < 4; ++row) {
    Adds(b[row * 64], a[row * 64], 1.0f, 60);
  }
  outputs.EnQue(b);
  b = outputs.DeQue<float>();
  DataCopyPad(yGm, b, {4, 240, 0, 0, 0});
  outputs.FreeTensor(b);
  inputs.FreeTensor(a);
}
