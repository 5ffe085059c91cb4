// Each HardEvent has eight event ids.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_ids_exhausted_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  for (int i = 0; i < 9; ++i) {
    pipe.AllocEventID<HardEvent::V_S>();  // expect: event-ids-exhausted
  }
}
