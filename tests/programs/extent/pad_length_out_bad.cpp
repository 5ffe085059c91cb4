// The length of a row of DataCopyPad counts bytes, on the way out too.
// roles: in out
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_pad_length_out_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inputs;
  TQue<TPosition::VECOUT, 1> outputs;
  pipe.InitBuffer(inputs, 1, 4096);
  pipe.InitBuffer(outputs, 1, 4096);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = inputs.AllocTensor<float>();
  DataCopy(a, xGm, 1024);
  inputs.EnQue(a);
  a = inputs.DeQue<float>();
  LocalTensor<float> b = outputs.AllocTensor<float>();
  Adds(b, a, 1.0f, 1024);
  outputs.EnQue(b);
  b = outputs.DeQue<float>();
  DataCopyPad(yGm, b, {1, 1024, 0, 0, 0});  // expect: gm-not-written
  outputs.FreeTensor(b);
  inputs.FreeTensor(a);
}
