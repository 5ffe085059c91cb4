// Flags that a kernel sets itself. Queues set and wait for flags of their own event ids, whatever the kernel does.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/core/emit.h"

namespace gn_twin {

// Whether a queue holds the id: for a tensor that was enqueued, or given back.
GNT_COLD inline bool IsOfQueue(const Core& core, AscendC::HardEvent event, int id) {
  for (uint16_t i = 0; i < core.buffer_count; ++i) {
    const Buffer& one = core.buffers[i];
    if ((one.enque_event == event && one.enque_id == id) || (one.free_event == event && one.free_id == id)) return true;
  }
  return false;
}

// The first flag of the event that the kernel set in a suitable place (`suits`) and that nothing has waited for: it is
// the cause.
template <class Suits>
GNT_COLD bool AddOwnFlag(const Core& core, AscendC::HardEvent event, const char* cause, FieldList& fields,
                         Suits suits) {
  for (uint32_t id = 0; id < kEventIds; ++id) {
    if ((core.raised[static_cast<int>(event)] >> id & 1) == 0 || IsOfQueue(core, event, static_cast<int>(id))) continue;
    const Loc set = core.raised_at[static_cast<int>(event)][id];
    if (!suits(set)) continue;
    fields.Add({"cause", cause});
    fields.Add({"set_id", id});
    fields.Add({"raised_file", set.file});
    fields.Add({"raised_line", set.line});
    fields.Add({"raised_op", "SetFlag"});
    return true;
  }
  return false;
}

}  // namespace gn_twin
