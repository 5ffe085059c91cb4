// A wait between two pipes of one core, where no queue makes it.
#pragma once
#include "kernel_operator.h"

// The second pipe of the event waits until the first has done all it was given so far.
template <AscendC::HardEvent event>
__aicore__ inline void SyncPipes(AscendC::TPipe* pipe) {
  const AscendC::TEventID id = pipe->FetchEventID<event>();
  AscendC::SetFlag<event>(id);
  AscendC::WaitFlag<event>(id);
}
