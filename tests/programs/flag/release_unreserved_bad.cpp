// Only a reserved event id can be released.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void flag_release_unreserved_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  const TEventID id = pipe.FetchEventID<HardEvent::V_S>();
  SetFlag<HardEvent::V_S>(id);
  WaitFlag<HardEvent::V_S>(id);
  pipe.ReleaseEventID<HardEvent::V_S>(id);  // expect: event-id-not-reserved
}
