// Events connect two different pipes.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_raw_pipes_ok(GM_ADDR x, GM_ADDR y) {
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
}
