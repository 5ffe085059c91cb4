// A flag is waited for before it is set again.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_set_twice_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  SetFlag<HardEvent::V_S>(0);
  PipeBarrier<PIPE_ALL>();
  SetFlag<HardEvent::V_S>(0);  // expect: flag-set-twice
  WaitFlag<HardEvent::V_S>(0);
}
