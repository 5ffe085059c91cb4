// The eight event ids of each HardEvent: their reservations, the set flags, and findings about them.
//
// Source: docs/zh/api, TPipe (AllocEventID, FetchEventID, ReleaseEventID) and 同步控制/核内同步. Queues take their ids from the
// same eight.
#pragma once
#include "gn_twin/core/async_copies.h"
#include "gn_twin/core/emit.h"
#include "gn_twin/core/own_flags.h"

namespace gn_twin {

using AscendC::HardEvent;

inline uint8_t Bit(int id) { return static_cast<uint8_t>(1u << id); }

// The lowest unreserved id, or -1.
inline int LowestFreeId(const Core& core, HardEvent event) {
  const uint8_t busy = core.reserved[static_cast<int>(event)];
  return busy == 0xff ? -1 : __builtin_ctz(static_cast<unsigned>(~busy));
}

// Reserves the lowest free id for `what` (an API or a queue operation). If all eight are taken, public text does not
// say what the device does: the launch stops, or -1 is returned and no flag is used (docs/hardware-choices.md,
// event_ids).
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

// Sets a flag or waits for it: delayed copies take effect, and observers get the event. The order of the arguments
// keeps the place in registers: on the stack it would be stored in halves and loaded whole, which is slow.
GNT_NOINLINE inline void Signal(Core& core, Kind kind, HardEvent event, int id, Loc loc, const char* op) {
  core.At(loc);
  if (kObserved && core.delayed != nullptr) [[unlikely]]
    kind == Kind::SetFlag ? core.delayed->SetFlag(event, id) : core.delayed->WaitFlag(event, id);
  EmitFlag(core, kind, event, id, loc, op);
}

// FetchEventID reserves nothing: another line got the same id again.
GNT_COLD inline void AddGivenTwice(const Core& core, HardEvent event, int id, FieldList& fields) {
  const GivenId* latest = nullptr;
  for (uint32_t i = 1; i <= Core::kGivenIds; ++i) {
    const GivenId& one = core.given_ids[(core.next_given + Core::kGivenIds - i) % Core::kGivenIds];
    if (one.event != event || one.id != id) continue;
    if (latest == nullptr) {
      latest = &one;
    } else if (one.loc.line != latest->loc.line) {
      if (one.op[0] != 'F') return;
      fields.Add({"cause", "fetched-twice"});
      fields.Add({"first_file", one.loc.file});
      fields.Add({"first_line", one.loc.line});
      fields.Add({"first_op", one.op});
      fields.Add({"again_file", latest->loc.file});
      fields.Add({"again_line", latest->loc.line});
      fields.Add({"again_op", latest->op});
      return;
    }
  }
}

// A flag is set that is already set.
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

// A wait for a flag that was not set. A tensor that was not enqueued may be the cause.
[[noreturn]] GNT_COLD inline void StopUnset(Core& core, HardEvent event, int id, Loc loc) {
  FieldList fields{{"event", NameOf(event)}, {"id", id}};
  for (uint16_t i = 0; i < core.buffer_count; ++i) {
    const Buffer& buffer = core.buffers[i];
    if (!buffer.of_queue || buffer.forward != event || buffer.state != BufferState::Occupied) continue;
    fields.Add({"cause", "wait-without-enque"});
    fields.Add({"buffer_file", buffer.made.file});
    fields.Add({"buffer_line", buffer.made.line});
    fields.Add({"buffer_nth", buffer.nth});
    fields.Add({"changed_line", buffer.changed.line});
    break;
  }
  const Loc taken = core.awaited_at[static_cast<int>(event)][id];
  // A kernel that already waited for this id may since have set the flag with another id.
  if (!fields.Has("cause") && taken.line != 0 &&
      !AddOwnFlag(core, event, "other-id", fields, [](Loc) { return true; })) {
    fields.Add({"cause", "flag-taken"});
    fields.Add({"taken_file", taken.file});
    fields.Add({"taken_line", taken.line});
    fields.Add({"taken_op", "WaitFlag"});
  }
  core.Stop("flag-wait-unset", loc, fields);
}

// Raise and await do the bookkeeping of SetFlag and WaitFlag. The twin runs in program order, so a wait for a flag that
// was not set would never end.
//
// `queue`: the queue operation that sets the flag, null for SetFlag itself. If a queue's flag is set on top of one of
// the kernel's own, both come from the same pipe and are waited for as often as they are set: no wait ends too early,
// so that is a warning.
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

// Waits for the flags that FreeTensor set on the buffers of this core, which are then forgotten. It never stops the
// launch, because a destructor calls it.
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
