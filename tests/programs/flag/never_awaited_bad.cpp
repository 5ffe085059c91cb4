// Every flag that is set is awaited before the block ends.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_never_awaited_bad(GM_ADDR x, GM_ADDR y) {
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);  // expect: flag-never-awaited
  PipeBarrier<PIPE_ALL>();
}
