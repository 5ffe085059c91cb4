// What was enqueued is taken with DeQue.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_alloc_for_deque_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 2> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 2, 256);
  pipe.InitBuffer(out, 1, 256);
  GlobalTensor<float> from, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = in.AllocTensor<float>();
  DataCopy(a, from, 64);
  in.EnQue(a);
  LocalTensor<float> b = in.DeQue<float>();
  LocalTensor<float> c = out.AllocTensor<float>();
  Abs(c, b, 64);
  in.FreeTensor(b);
  out.EnQue(c);
  c = out.DeQue<float>();
  DataCopy(to, c, 64);
  out.FreeTensor(c);
}
