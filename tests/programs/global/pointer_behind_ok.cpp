// A loop that reads through a pointer ends one element too late.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_pointer_behind_ok(GM_ADDR x, GM_ADDR y) {
  const __gm__ float* values = (const __gm__ float*)x;
  const uint32_t last = 1023;
  float sum = 0.0f;
  for (uint32_t i = 0; i <= last; ++i) sum += values[i];
  *(__gm__ float*)y = sum;
}
