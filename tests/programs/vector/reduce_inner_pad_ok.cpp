// Reductions with a pattern take padded rows only on this product.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_reduce_inner_pad_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 65536);
  LocalTensor<float> a = buffer.GetWithOffset<float>(8, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 512);
  Duplicate(b, 1.0f, 64);
  const uint32_t shape[2] = {8, 8};
  ReduceMax<float, Pattern::Reduce::AR>(a, b, shape, true);
}
