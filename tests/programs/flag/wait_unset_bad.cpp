// Waiting for a flag that nobody set never ends.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_wait_unset_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  SetFlag<HardEvent::V_S>(0);
  WaitFlag<HardEvent::V_S>(1);  // expect: flag-wait-unset
}
