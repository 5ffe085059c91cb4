// A tensor needs memory before it is used.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_unallocated_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t;
  Adds(t, t, 1.0f, 8);  // expect: ub-unallocated
}
