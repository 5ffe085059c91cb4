// What a repeat writes, no later one may read.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_overlap_repeats_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  Duplicate(a, 1.0f, 256);
  Adds(a[64], a, 1.0f, 64, 2, {1, 1, 8, 8});  // expect: operands-overlap
}
