// Source and destination are the same memory, or apart.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_overlap_part_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  Duplicate(a, 1.0f, 128);
  Adds(a[8], a, 1.0f, 64);  // expect: operands-overlap
}
