// EnQue and DeQue stand between the copy in and the instruction.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_not_enqueued_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inputs;
  pipe.InitBuffer(inputs, 1, 1024);
  GlobalTensor<float> xGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> a = inputs.AllocTensor<float>();
  DataCopy(a, xGm, 128);  // the other access
  PipeBarrier<PIPE_MTE2>();
  Adds(a[128], a, 1.0f, 128);  // expect: race-read-after-write
  inputs.FreeTensor(a);
}
