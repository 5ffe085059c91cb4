// A flag is waited for before it is set again.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_set_twice_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  SetFlag<HardEvent::V_S>(0);
  WaitFlag<HardEvent::V_S>(0);
  SetFlag<HardEvent::V_S>(0);
  WaitFlag<HardEvent::V_S>(0);
}
