// Rows of Sum start on 32-byte boundaries.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_sum_shape_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 16384);
  LocalTensor<float> a = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 256);
  Duplicate(b, 1.0f, 64);
  Sum(a, b, SumParams{2, 8, 5});
}
