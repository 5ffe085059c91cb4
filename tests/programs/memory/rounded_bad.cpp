// An instruction may touch the rest of the last block of 32 bytes.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_rounded_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 20);
  LocalTensor<float> t = buffer.Get<float>(5);
  Duplicate(t, 1.0f, 9);  // expect: ub-out-of-bounds
}
