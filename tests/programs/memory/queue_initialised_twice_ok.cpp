// InitBuffer is called once for each queue.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_queue_initialised_twice_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 2, 256);
  pipe.InitBuffer(out, 2, 256);
}
