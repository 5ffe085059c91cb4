// Transpose knows two orders of axes, and the tile of 16-bit elements.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_transpose_type_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 16384);
  LocalTensor<float> a = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 256);
  Duplicate(b, 1.0f, 64);
  LocalTensor<uint8_t> scratch = buffer.GetWithOffset<uint8_t>(8192, 1024);
  const TransposeParamsExt shape(1, 2, 2, 8, TransposeType::TRANSPOSE_ND2ND_B16);
  Transpose(a, b, scratch, shape);  // expect: transpose-type
}
