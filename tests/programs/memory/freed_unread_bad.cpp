// What an instruction computes is read before its tensor is given back.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_freed_unread_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inputs;
  TQue<TPosition::VECOUT, 1> outputs;
  pipe.InitBuffer(inputs, 1, 256);
  pipe.InitBuffer(outputs, 1, 256);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = inputs.AllocTensor<float>();
  LocalTensor<float> b = outputs.AllocTensor<float>();
  DataCopy(a, xGm, 64);
  inputs.EnQue(a);
  a = inputs.DeQue<float>();
  Adds(b, a, 1.0f, 64);
  Muls(a, a, 2.0f, 64);  // expect: ub-freed-unread
  inputs.FreeTensor(a);
  outputs.EnQue(b);
  b = outputs.DeQue<float>();
  DataCopy(yGm, b, 64);
  outputs.FreeTensor(b);
}
