// A queue sets its own flag, in EnQue.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_wait_without_enque_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inputs;
  pipe.InitBuffer(inputs, 1, 1024);
  GlobalTensor<float> xGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  LocalTensor<float> a = inputs.AllocTensor<float>();
  DataCopy(a, xGm, 256);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);  // expect: flag-wait-unset
  Adds(a, a, 1.0f, 256);
  inputs.FreeTensor(a);
}
