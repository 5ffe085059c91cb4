// A repeat stride has 8 bits, and counts blocks.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_stride_wraps_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 32768);
  TBuf<TPosition::VECCALC> bBuffer;
  pipe.InitBuffer(bBuffer, 32768);
  LocalTensor<float> a = aBuffer.Get<float>();
  LocalTensor<float> b = bBuffer.Get<float>();
  Duplicate(a, 1.0f, 8192);
  const uint32_t stride = 255;
  Adds(b, a, 1.0f, 64, 2, {1, 1, 8, stride});
}
