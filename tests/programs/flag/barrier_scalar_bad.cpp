// The scalar unit takes no barrier.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_barrier_scalar_bad(GM_ADDR x, GM_ADDR y) {
  pipe_barrier(PIPE_S);  // expect: barrier-scalar
}
