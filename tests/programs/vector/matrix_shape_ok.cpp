// Rows of a matrix fill whole 32-byte blocks.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_matrix_shape_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 65536);
  LocalTensor<float> a = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 256);
  Duplicate(b, 1.0f, 64);
  SoftMaxTiling tiling;
  SoftMax<float>(a, b, tiling, SoftMaxShapeInfo{8, 8, 8, 7});
}
