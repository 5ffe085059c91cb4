// One TPipe has at most 64 buffers.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_too_many_buffers_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 64, 32);
}
