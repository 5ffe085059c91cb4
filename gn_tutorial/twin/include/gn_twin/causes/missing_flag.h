// Adds a cause to a finding about a flag that is missing or was set twice: the call that left the flag out, set another
// one, or took it.
//
// The words of each cause are in gn_tutorial/diagnostics/causes.toml.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/events/hard_event.h"

namespace gn_twin {

// Whether a queue uses this id of the event, for a tensor that was enqueued or freed.
GNT_COLD inline bool IsOfQueue(const Core& core, AscendC::HardEvent event, int id) {
  for (uint16_t i = 0; i < core.buffer_count; ++i) {
    const Buffer& one = core.buffers[i];
    if ((one.enque_event == event && one.enque_id == id) || (one.free_event == event && one.free_id == id)) return true;
  }
  return false;
}

// Adds the cause if the kernel itself has set a flag of the event at a line that `suits`, and nobody has waited for
// that flag; the first such flag counts. Flags of queues do not count, because queues have ids of their own.
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

// For a missing flag: adds the cause if the kernel has set a flag of this event in or after the line of the other
// access, and nobody has waited for that flag yet.
GNT_COLD inline void AddOtherFlag(const Core& core, AscendC::HardEvent flag, Loc other, FieldList& fields) {
  if (flag >= AscendC::HardEvent::MAX) return;
  AddOwnFlag(core, flag, "other-flag", fields,
             [&](Loc set) { return set.file == other.file && set.line >= other.line; });
}

// For a wait for a flag that nobody has set: adds the cause. Either the tensor was not enqueued, or the flag was set
// with another id, or an earlier wait has used the flag up.
GNT_COLD inline void AddUnsetFlag(const Core& core, AscendC::HardEvent event, int id, FieldList& fields) {
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
  // A kernel that has waited for this id before may have set the flag with another one since.
  if (!fields.Has("cause") && taken.line != 0 &&
      !AddOwnFlag(core, event, "other-id", fields, [](Loc) { return true; })) {
    fields.Add({"cause", "flag-taken"});
    fields.Add({"taken_file", taken.file});
    fields.Add({"taken_line", taken.line});
    fields.Add({"taken_op", "WaitFlag"});
  }
}

// For a flag that is set twice: adds the cause if FetchEventID returned its id, and the same id was returned again in
// another line. FetchEventID reserves nothing.
GNT_COLD inline void AddGivenTwice(const Core& core, AscendC::HardEvent event, int id, FieldList& fields) {
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

// For a flag that is missing between a writer and a reader of a buffer: adds why the buffer's queue did not set it, or
// that there is no queue.
GNT_COLD inline void AddQueue(const Buffer& buffer, AscendC::HardEvent flag, FieldList& fields) {
  using AscendC::HardEvent;
  if (flag == HardEvent::MTE2_MTE3 && buffer.of_queue &&
      (buffer.forward == HardEvent::MTE2_V || buffer.forward == HardEvent::V_MTE3)) {
    fields.Add({"cause", "queue-of-one-side"});
    fields.Add({"position", buffer.forward == HardEvent::MTE2_V ? "VECIN" : "VECOUT"});
    fields.Add({"has", NameOf(buffer.forward)});
    return;
  }
  const bool queue = buffer.of_queue;
  const bool back = flag == HardEvent::MTE3_V || flag == HardEvent::V_MTE2;  // FreeTensor sets these flags
  if (flag != HardEvent::MTE2_V && flag != HardEvent::V_MTE3 && !(back && !queue)) return;
  const bool inputs = queue && buffer.forward == HardEvent::MTE2_V && flag == HardEvent::V_MTE3;
  const bool outputs = queue && buffer.forward == HardEvent::V_MTE3 && flag == HardEvent::MTE2_V;
  const bool fits = queue && buffer.forward == flag;
  const char* const cause = !queue                                          ? "no-queue"
                            : inputs                                        ? "queue-of-inputs"
                            : outputs                                       ? "queue-of-outputs"
                            : fits && buffer.state == BufferState::Occupied ? "not-enqueued"
                            : fits && buffer.state == BufferState::EnQueued ? "not-dequeued"
                                                                            : "";
  if (cause[0] == '\0') return;
  fields.Add({"cause", cause});
  fields.Add({"changed_line", buffer.changed.line});
}

}  // namespace gn_twin
