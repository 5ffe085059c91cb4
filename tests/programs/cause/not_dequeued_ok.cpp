// EnQue sets the flag, DeQue waits for it.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_not_dequeued_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inputs;
  pipe.InitBuffer(inputs, 1, 1024);
  GlobalTensor<float> xGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> a = inputs.AllocTensor<float>();
  DataCopy(a, xGm, 128);
  inputs.EnQue(a);
  LocalTensor<float> b = inputs.DeQue<float>();
  Adds(b[128], b, 1.0f, 128);
  inputs.FreeTensor(b);
}
