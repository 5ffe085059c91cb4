// 192 KiB of Unified Buffer can be handed out, and not a byte more.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_overflow_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> large;
  TBuf<TPosition::VECCALC> small;
  pipe.InitBuffer(large, 192 * 1024 - 32);
  pipe.InitBuffer(small, 33);  // expect: ub-overflow
}
