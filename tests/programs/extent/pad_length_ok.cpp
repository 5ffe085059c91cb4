// The length of a row of DataCopyPad counts bytes.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_pad_length_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inputs;
  TQue<TPosition::VECOUT, 1> outputs;
  pipe.InitBuffer(inputs, 1, 1024);
  pipe.InitBuffer(outputs, 1, 1024);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = inputs.AllocTensor<float>();
  DataCopyPad(a, xGm, {1, 256 * sizeof(float), 0, 0, 0}, {false, 0, 0, 0});
  inputs.EnQue(a);
  a = inputs.DeQue<float>();
  LocalTensor<float> b = outputs.AllocTensor<float>();
  Adds(b, a, 1.0f, 256);
  outputs.EnQue(b);
  b = outputs.DeQue<float>();
  DataCopy(yGm, b, 256);
  outputs.FreeTensor(b);
  inputs.FreeTensor(a);
}
