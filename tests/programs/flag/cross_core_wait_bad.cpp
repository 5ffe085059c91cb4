// A core that waits for the others has set the flag itself.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_cross_core_wait_bad(GM_ADDR x, GM_ADDR y) {
  CrossCoreSetFlag<0, PIPE_MTE3>(1);
  CrossCoreWaitFlag(0);  // expect: cross-core-wait
}
