// Tanh needs two buffers.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_tanh_in_place_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 16384);
  LocalTensor<float> a = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 256);
  Duplicate(b, 1.0f, 64);
  Tanh(a, b, 64);
}
