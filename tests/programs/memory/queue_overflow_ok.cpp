// Every buffer of a queue counts.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_queue_overflow_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 2, 96 * 1024);
}
