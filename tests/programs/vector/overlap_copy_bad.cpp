// The rows of a copy inside local memory must be apart.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_overlap_copy_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  Duplicate(a, 1.0f, 256);
  DataCopy(a[64], a, 128);  // expect: operands-overlap
}
