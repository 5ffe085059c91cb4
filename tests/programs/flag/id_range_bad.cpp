// Event ids run from 0 to 7.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_id_range_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  const int32_t id = 8;
  SetFlag<HardEvent::V_S>(id);  // expect: event-id-range
  WaitFlag<HardEvent::V_S>(id);
}
