// A kernel has one TPipe: two of them hand out the same memory.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_two_pipes_bad(GM_ADDR x, GM_ADDR y) {
  TPipe old;
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  old.InitBuffer(buffer, 256);  // expect: pipe-not-live
}
