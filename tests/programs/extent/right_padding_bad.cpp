// Padding counts elements: 6 bytes are 3 halves. One more begins another block.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_right_padding_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> rows;
  pipe.InitBuffer(rows, 1, 96);
  GlobalTensor<half> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y));
  LocalTensor<half> a = rows.AllocTensor<half>();
  DataCopyPadExtParams<half> pad{true, 0, 6, half(0.0f)};
  DataCopyPad(a, xGm, {1, 90, 0, 0, 0}, pad);  // expect: ub-out-of-bounds
  rows.EnQue(a);
  a = rows.DeQue<half>();
  DataCopy(yGm, a, 48);
  rows.FreeTensor(a);
}
