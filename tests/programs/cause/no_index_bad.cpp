// ReduceMax writes the index only where it is asked for it.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_no_index_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inputs;
  TQue<TPosition::VECOUT, 1> outputs;
  TBuf<TPosition::VECCALC> scratch;
  pipe.InitBuffer(inputs, 1, 1024);
  pipe.InitBuffer(outputs, 1, 32);
  pipe.InitBuffer(scratch, 1024);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = inputs.AllocTensor<float>();
  DataCopy(a, xGm, 256);
  inputs.EnQue(a);
  a = inputs.DeQue<float>();
  LocalTensor<float> b = outputs.AllocTensor<float>();
  ReduceMax(b, a, scratch.Get<float>(), 256, false);  // the cause
  const float bits = b.GetValue(1);  // expect: ub-never-written
  Duplicate(b, bits, 8);
  outputs.EnQue(b);
  b = outputs.DeQue<float>();
  DataCopy(yGm, b, 8);
  outputs.FreeTensor(b);
  inputs.FreeTensor(a);
}
