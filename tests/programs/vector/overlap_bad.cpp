// High-level functions keep their operands apart.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_overlap_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Sigmoid(t, t[8], 32);  // expect: operands-overlap
}
