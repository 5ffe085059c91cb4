// A buffer has a length: InitBuffer takes bytes.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_buffer_of_no_bytes_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1);
}
