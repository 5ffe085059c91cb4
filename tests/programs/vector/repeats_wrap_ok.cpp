// repeatTime has 8 bits.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_repeats_wrap_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 65536);
  LocalTensor<float> a = aBuffer.Get<float>();
  Duplicate(a, 1.0f, 16384);
  const uint32_t repeats = 255;
  Adds(a, a, 1.0f, 64, repeats, {1, 1, 8, 8});
}
