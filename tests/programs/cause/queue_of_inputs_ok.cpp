// A queue of VECIN does not make the copy out wait for the instruction.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_queue_of_inputs_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECOUT, 1> results;
  pipe.InitBuffer(results, 1, 1024);
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> b = results.AllocTensor<float>();
  Duplicate(b, 1.0f, 256);
  results.EnQue(b);
  b = results.DeQue<float>();
  DataCopy(yGm, b, 256);
  results.FreeTensor(b);
}
