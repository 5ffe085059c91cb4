// InitBuffer is called once for each TBuf.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_buffer_initialised_twice_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> first;
  TBuf<TPosition::VECCALC> second;
  pipe.InitBuffer(first, 256);
  pipe.InitBuffer(first, 256);  // expect: init-buffer-twice
}
