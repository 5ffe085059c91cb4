// A flag serves one wait.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_flag_taken_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
}
