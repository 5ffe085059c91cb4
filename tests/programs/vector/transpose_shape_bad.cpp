// A plane fills whole 32-byte blocks.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_transpose_shape_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 16384);
  LocalTensor<float> a = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 256);
  Duplicate(b, 1.0f, 64);
  LocalTensor<uint8_t> scratch = buffer.GetWithOffset<uint8_t>(8192, 1024);
  const TransposeParamsExt shape(1, 2, 1, 4, TransposeType::TRANSPOSE_NCHW2NHWC);
  Transpose(a, b, scratch, shape);  // expect: transpose-shape
}
