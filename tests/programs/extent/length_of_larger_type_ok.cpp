// A length in bytes is that of the type which the tensor has.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void extent_length_of_larger_type_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  GlobalTensor<half> from, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(x));
  to.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y));
  LocalTensor<half> a = queue.AllocTensor<half>();
  DataCopy(a, from, 128);
  queue.EnQue(a);
  a = queue.DeQue<half>();
  DataCopyPad(to, a, {1, 128 * sizeof(half), 0, 0, 0});
  queue.FreeTensor(a);
}
