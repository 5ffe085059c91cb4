// A buffer has a length.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_empty_buffer_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1);
}
