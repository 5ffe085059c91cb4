// Broadcast has a row and a matrix that are apart.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_broadcast_in_place_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1024);
  LocalTensor<float> a = buffer.Get<float>();
  Duplicate(a, 1.0f, 64);
  const uint32_t to[] = {2, 64};
  const uint32_t from[] = {1, 64};
  Broadcast<float, 2, 0>(a[64], a, to, from);
}
