// The event ids that queues hold: they set and wait for those themselves, whatever a kernel does with its own.
#pragma once
#include "gn_twin/core/core.h"

namespace gn_twin {

// Whether a queue holds the id: for a tensor that was enqueued, or given back.
GNT_COLD inline bool IsOfQueue(const Core& core, AscendC::HardEvent event, int id) {
  for (uint16_t i = 0; i < core.buffer_count; ++i) {
    const Buffer& one = core.buffers[i];
    if ((one.enque_event == event && one.enque_id == id) || (one.free_event == event && one.free_id == id)) return true;
  }
  return false;
}

}  // namespace gn_twin
