// Two buffers in use at the same time need an id each.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_one_id_for_two_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TEventID ids[2];
  ids[0] = pipe.AllocEventID<HardEvent::V_MTE2>();
  ids[1] = pipe.AllocEventID<HardEvent::V_MTE2>();
  for (uint32_t i = 0; i < 2; ++i) {
    SetFlag<HardEvent::V_MTE2>(ids[i]);
  }
  for (uint32_t i = 0; i < 2; ++i) WaitFlag<HardEvent::V_MTE2>(ids[i]);
}
