// Blocks add to counters in global memory through a pointer: all of them to the same one.
// blocks: 4
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void race_pointer_counter_bad(GM_ADDR x, GM_ADDR y) {
  __gm__ float* counters = (__gm__ float*)y;
  counters[0] += 1.0f;  // expect: race-blocks
}
