// EnQue sets the flag, DeQue waits for it.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_not_dequeued_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inputs;
  pipe.InitBuffer(inputs, 1, 1024);
  GlobalTensor<float> xGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> a = inputs.AllocTensor<float>();
  DataCopy(a, xGm, 128);  // the other access
  inputs.EnQue(a);  // the cause
  LocalTensor<float> b = a;
  Adds(b[128], b, 1.0f, 128);  // expect: race-read-after-write
  inputs.FreeTensor(b);  // also: queue-wrong-state
}
