// A raw wait needs a raw set of the same pipes and id.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_raw_unset_bad(GM_ADDR x, GM_ADDR y) {
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);  // expect: flag-wait-unset
}
