// A flag is waited for with the id that it was set with.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_other_id_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  for (int32_t slot = 0; slot < 2; ++slot) {
    SetFlag<HardEvent::MTE2_V>(slot);  // the cause
    WaitFlag<HardEvent::MTE2_V>(0);    // expect: flag-wait-unset
  }
}
