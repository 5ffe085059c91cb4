// Along axis 1 a column is repeated.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_broadcast_shape_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 16384);
  LocalTensor<float> a = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 256);
  Duplicate(b, 1.0f, 64);
  const uint32_t to[2] = {4, 8};
  const uint32_t from[2] = {1, 8};
  Broadcast<float, 2, 1>(a, b, to, from);  // expect: broadcast-shape
}
