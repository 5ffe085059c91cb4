// The stride of WholeReduceSum counts results, and not blocks.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_result_stride_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inputs;
  TQue<TPosition::VECOUT, 1> outputs;
  pipe.InitBuffer(inputs, 1, 1024);
  pipe.InitBuffer(outputs, 1, 1024);
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1024);
  LocalTensor<float> sums = buffer.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = inputs.AllocTensor<float>();
  DataCopy(a, xGm, 256);
  inputs.EnQue(a);
  a = inputs.DeQue<float>();
  LocalTensor<float> b = outputs.AllocTensor<float>();
  WholeReduceSum(sums, a, 64, 4, 8, 1, 8);
  Duplicate(b, 0.0f, 8);
  PipeBarrier<PIPE_V>();
  Adds(b, sums, 1.0f, 4);  // expect: ub-never-written
  outputs.EnQue(b);
  b = outputs.DeQue<float>();
  DataCopy(yGm, b, 8);
  outputs.FreeTensor(b);
  inputs.FreeTensor(a);
}
