// Flags between cores have the numbers 0 to 15.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_cross_core_id_bad(GM_ADDR x, GM_ADDR y) {
  CrossCoreSetFlag<0, PIPE_MTE3>(5);
  CrossCoreWaitFlag(16);  // expect: cross-core-flag
}
