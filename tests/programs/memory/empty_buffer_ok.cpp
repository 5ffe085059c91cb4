// A queue has at least one buffer.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_empty_buffer_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 1, 32);
}
