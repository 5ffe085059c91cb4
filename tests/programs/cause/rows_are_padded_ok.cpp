// Rows of 20 floats, 80 bytes: in the Unified Buffer each has 96.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_rows_are_padded_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, 192);
  pipe.InitBuffer(out, 1, 192);
  GlobalTensor<float> from, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> a = in.AllocTensor<float>();
  DataCopyPad(a, from, DataCopyExtParams{2, 80, 0, 0, 0}, DataCopyPadExtParams<float>{false, 0, 0, 0.0f});
  in.EnQue(a);
  a = in.DeQue<float>();
  LocalTensor<float> b = out.AllocTensor<float>();
  Muls(b, a, 2.0f, 20);
  Muls(b[24], a[24], 2.0f, 20);
  in.FreeTensor(a);
  out.EnQue(b);
  b = out.DeQue<float>();
  DataCopyPad(to, b, DataCopyExtParams{2, 80, 0, 0, 0});
  out.FreeTensor(b);
}
