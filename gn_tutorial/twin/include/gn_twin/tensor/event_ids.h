// The eight event ids of each HardEvent: reserves and releases ids, sets and awaits their flags, and reports mistakes.
//
// Source: docs/zh/api, TPipe (AllocEventID, FetchEventID, ReleaseEventID) and 同步控制/核内同步. Queues take their ids from the
// same eight.
#pragma once
#include "gn_twin/causes/missing_flag.h"
#include "gn_twin/core/async_copies.h"
#include "gn_twin/core/emit.h"

namespace gn_twin {

using AscendC::HardEvent;

inline uint8_t Bit(int id) { return static_cast<uint8_t>(1u << id); }

// Returns the lowest id that nobody has reserved, or -1.
inline int LowestFreeId(const Core& core, HardEvent event) {
  const uint8_t busy = core.reserved[static_cast<int>(event)];
  return busy == 0xff ? -1 : __builtin_ctz(static_cast<unsigned>(~busy));
}

// Reserves the lowest free id for `what` (an API or a queue operation) and returns it. Public documents do not say what
// the device does if all eight are taken, so an option decides: the launch stops, or this returns -1 and no flag is
// used (docs/hardware-choices.md, event_ids).
inline int8_t ReserveId(Core& core, HardEvent event, const char* what, Loc loc) {
  const int id = LowestFreeId(core, event);
  if (id < 0 && core.job->options.event_ids != 0) return -1;
  if (id < 0) core.Stop("event-ids-exhausted", loc, {{"op", what}, {"event", NameOf(event)}, {"ids", kEventIds}});
  core.reserved[static_cast<int>(event)] |= Bit(id);
  return static_cast<int8_t>(id);
}
inline void ReleaseId(Core& core, HardEvent event, int id) {
  core.reserved[static_cast<int>(event)] &= static_cast<uint8_t>(~Bit(id));
}

// Tells the delayed copies and the observers that a flag is set or waited for. The order of the arguments keeps `loc`
// in registers. On the stack `loc` would be stored in halves and loaded whole, and the load would wait for both stores.
GNT_NOINLINE inline void Signal(Core& core, Kind kind, HardEvent event, int id, Loc loc, const char* op) {
  core.At(loc);
  if (kObserved && core.delayed != nullptr) [[unlikely]]
    kind == Kind::SetFlag ? core.delayed->SetFlag(event, id) : core.delayed->WaitFlag(event, id);
  EmitFlag(core, kind, event, id, loc, op);
}

// Reports that a flag is set although it is set already.
GNT_COLD inline void RaiseAgain(Core& core, HardEvent event, int id, Loc loc, const char* queue) {
  const Loc first = core.raised_at[static_cast<int>(event)][id];
  if (queue == nullptr) {
    FieldList fields{{"event", NameOf(event)}, {"id", id}};
    AddGivenTwice(core, event, id, fields);
    core.Refuse("flag-set-twice", loc, fields);
  } else {
    core.Warn("flag-set-by-queue", loc, {},
              {{"op", queue},
               {"event", NameOf(event)},
               {"id", id},
               {"first_file", first.file},
               {"first_line", first.line},
               {"first_op", "SetFlag"}});
  }
  core.raised_again[static_cast<int>(event)] |= Bit(id);
}

// Stops at a wait for a flag that nobody set.
[[noreturn]] GNT_COLD inline void StopUnset(Core& core, HardEvent event, int id, Loc loc) {
  FieldList fields{{"event", NameOf(event)}, {"id", id}};
  AddUnsetFlag(core, event, id, fields);
  core.Stop("flag-wait-unset", loc, fields);
}

// Raise and Await do the bookkeeping of SetFlag and WaitFlag. The twin runs in program order, so a wait for a flag that
// nobody raised would never end.
//
// `queue`: the queue operation that sets the flag, null for SetFlag itself. A queue may set a flag that the kernel
// itself has set. Both come from the same pipe, and the flag is waited for as often as it is set. No wait ends too
// early, so this is only a warning.
GNT_NOINLINE inline void Raise(Core& core, HardEvent event, int id, Loc loc, const char* queue = nullptr) {
  if (id < 0 || id >= static_cast<int>(kEventIds)) {
    core.Stop("event-id-range", loc, {{"op", "SetFlag"}, {"id", id}, {"ids", kEventIds}});
  }
  uint8_t& raised = core.raised[static_cast<int>(event)];
  if ((raised & Bit(id)) != 0) [[unlikely]]
    RaiseAgain(core, event, id, loc, queue);
  raised |= Bit(id);
  core.raised_at[static_cast<int>(event)][id] = loc;
  Signal(core, Kind::SetFlag, event, id, loc, "SetFlag");
}
GNT_NOINLINE inline void Await(Core& core, HardEvent event, int id, Loc loc) {
  if (id < 0 || id >= static_cast<int>(kEventIds)) {
    core.Stop("event-id-range", loc, {{"op", "WaitFlag"}, {"id", id}, {"ids", kEventIds}});
  }
  uint8_t& raised = core.raised[static_cast<int>(event)];
  if ((raised & Bit(id)) == 0) [[unlikely]]
    StopUnset(core, event, id, loc);
  uint8_t& again = core.raised_again[static_cast<int>(event)];
  if ((again & Bit(id)) != 0) [[unlikely]] {
    again &= static_cast<uint8_t>(~Bit(id));
  } else {
    raised &= static_cast<uint8_t>(~Bit(id));
  }
  core.awaited_at[static_cast<int>(event)][id] = loc;
  Signal(core, Kind::WaitFlag, event, id, loc, "WaitFlag");
}

// Waits for the flags that FreeTensor left on the buffers of this core, before the caller forgets these buffers. Never
// stops the launch, because a destructor calls this.
GNT_NOINLINE inline void AwaitFreeTensors(Core& core, Loc loc) {
  for (uint16_t i = 0; i < core.buffer_count; ++i) {
    Buffer& buffer = core.buffers[i];
    if (buffer.free_id < 0) continue;
    uint8_t& raised = core.raised[static_cast<int>(buffer.free_event)];
    if ((raised & Bit(buffer.free_id)) != 0)
      Signal(core, Kind::WaitFlag, buffer.free_event, buffer.free_id, loc, "WaitFlag");
    raised &= static_cast<uint8_t>(~Bit(buffer.free_id));
    ReleaseId(core, buffer.free_event, buffer.free_id);
    buffer.free_id = -1;
  }
}

}  // namespace gn_twin
