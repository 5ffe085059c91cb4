// A flag serves one wait.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_flag_taken_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);  // the cause
  PipeBarrier<PIPE_ALL>();
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);  // expect: flag-wait-unset
}
