// Each HardEvent has eight event ids.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_ids_exhausted_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  for (int i = 0; i < 8; ++i) {
    pipe.AllocEventID<HardEvent::V_S>();
  }
}
