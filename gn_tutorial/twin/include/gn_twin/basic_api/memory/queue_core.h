// The state of a queue: the state of each of its buffers, and the flags that order the pipes. This is the part that
// does not depend on element types.
//
// Per buffer: free -> AllocTensor -> EnQue -> DeQue -> FreeTensor -> free. EnQue sets the flag that the consuming pipe
// waits for in DeQue. FreeTensor sets the flag of the other direction, which the buffer's next AllocTensor waits for. A
// queue between two vector instructions (HardEvent::V_V) has no flags.
// Source: docs/zh/api, 资源管理/TQue, TQueBind.
#pragma once
#include "gn_twin/tensor/event_ids.h"
#include "gn_twin/tensor/tensor.h"

namespace AscendC {
using TBufHandle = uint8_t*;
enum class TBufState : uint8_t { FREE = 0, OCCUPIED, ENQUE, DEQUE };
}  // namespace AscendC

namespace gn_twin {

using AscendC::TPosition;

// ForwardEvent returns the flag that EnQue sets when data go from a producer's to a consumer's position. BackwardEvent
// returns the flag that FreeTensor sets in the other direction.
inline constexpr HardEvent ForwardEvent(TPosition from, TPosition to) {
  if (from == TPosition::GM) return HardEvent::MTE2_V;
  if (to == TPosition::GM) return HardEvent::V_MTE3;
  if (from == TPosition::VECIN && to == TPosition::VECOUT) return HardEvent::MTE2_MTE3;
  return HardEvent::V_V;
}
inline constexpr HardEvent BackwardEvent(TPosition from, TPosition to) {
  if (from == TPosition::GM) return HardEvent::V_MTE2;
  if (to == TPosition::GM) return HardEvent::MTE3_V;
  if (from == TPosition::VECIN && to == TPosition::VECOUT) return HardEvent::MTE3_MTE2;
  return HardEvent::V_V;
}

// The buffers of one queue and the order in which they were enqueued, without element types.
class QueueCore {
 public:
  uint32_t Buffers() const { return buffers_; }
  uint32_t EnQueued() const { return queued_; }

  GNT_NOINLINE void Init(Core& core, uint16_t first, uint16_t buffers, Loc loc) {
    if (buffers_ != 0) ReportIfInitialised(core, first_, true, loc);
    first_ = first;
    buffers_ = buffers;
    cursor_ = 0;
    head_ = 0;
    queued_ = 0;
    for (uint16_t& slot : fifo_) slot = first;
  }

  // Counts how often a kernel asks how full the queue is. Stops after too many questions, because a loop that
  // waits for another answer never ends.
  void NoteAsked(const char* op, Loc loc) const {
    if constexpr (kObserved) {
      Core& core = ThisCore();
      if (++core.queue_asks >= Core::kMostAsks) [[unlikely]]
        StopAsking(core, op, loc);
    }
  }

  // Returns the next free buffer, round robin. If none is free, the device waits for ever, and the twin stops.
  GNT_NOINLINE uint16_t Alloc(Core& core, Loc loc) {
    RequireBuffers(core, "AllocTensor", loc);
    for (uint32_t tried = 0; tried < buffers_; ++tried) {
      const uint16_t index = static_cast<uint16_t>(first_ + cursor_);
      cursor_ = static_cast<uint16_t>((cursor_ + 1) % buffers_);
      Buffer& buffer = core.buffers[index];
      if (buffer.state != BufferState::Free) continue;
      buffer.state = BufferState::Occupied;
      buffer.changed = buffer.allocated = loc;
      buffer.lent = buffer.alive = core.NoteTensor({loc, "AllocTensor", 0, index});
      if (buffer.free_id >= 0) {
        Await(core, buffer.free_event, buffer.free_id, loc);
        ReleaseId(core, buffer.free_event, buffer.free_id);
        buffer.free_id = -1;
      }
      EmitBuffer(core, Kind::Alloc, "AllocTensor", core.buffers[index], loc);
      if (core.freed_use_count != 0) [[unlikely]]
        RefuseUsesAfterFree(core, index, loc);
      return index;
    }
    const Buffer& oldest = core.buffers[first_];
    core.Stop("queue-no-free-buffer", loc,
              {{"buffers", buffers_},
               {"buffer_file", oldest.made.file},
               {"buffer_line", oldest.made.line},
               {"buffer_nth", oldest.nth},
               {"held_file", oldest.changed.file},
               {"held_line", oldest.changed.line}});
  }

  GNT_NOINLINE void EnQue(Core& core, uint16_t index, uint32_t depth, HardEvent event, Loc loc) {
    Buffer& buffer = Mine(core, index, "EnQue", loc);
    if (buffer.state != BufferState::Occupied && buffer.state != BufferState::DeQueued) {
      WrongState(core, "EnQue", buffer, loc);
    }
    if (queued_ >= (depth == 0 ? buffers_ : depth)) {
      core.Stop("queue-depth", loc,
                {{"depth", depth},
                 {"queued", queued_},
                 {"buffers", buffers_},
                 {"buffer_file", buffer.made.file},
                 {"buffer_line", buffer.made.line},
                 {"buffer_nth", buffer.nth}});
    }
    buffer.state = BufferState::EnQueued;
    buffer.changed = loc;
    fifo_[(head_ + queued_++) % kMaxBuffers] = index;
    if (event != HardEvent::V_V) {  // two vector instructions need no flag, because the unit works in order
      buffer.enque_event = event;
      buffer.enque_id = ReserveId(core, event, "EnQue", loc);
      if (buffer.enque_id >= 0) Raise(core, event, buffer.enque_id, loc, "EnQue");
    }
    EmitBuffer(core, Kind::EnQue, "EnQue", core.buffers[index], loc);
  }

  GNT_NOINLINE uint16_t DeQue(Core& core, HardEvent event, Loc loc) {
    RequireBuffers(core, "DeQue", loc);
    if (queued_ == 0) {
      const Buffer& first = core.buffers[first_];
      if (core.job->options.empty_deque == 0) {
        FieldList fields{{"buffers", buffers_},
                         {"buffer_file", first.made.file},
                         {"buffer_line", first.made.line},
                         {"buffer_nth", first.nth}};
        AddTaken(core, fields);
        core.Stop("queue-empty", loc, fields);
      }
      return fifo_[head_];  // the tensor that was enqueued there before, as on the device
    }
    const uint16_t index = fifo_[head_];
    head_ = static_cast<uint16_t>((head_ + 1) % kMaxBuffers);
    --queued_;
    Buffer& buffer = core.buffers[index];
    if (buffer.enque_id >= 0 && event != buffer.enque_event) {
      core.Stop("queue-event-differs", loc,
                {{"event", gn_twin::NameOf(event)},
                 {"raised", gn_twin::NameOf(buffer.enque_event)},
                 {"enqueued_file", buffer.changed.file},
                 {"enqueued_line", buffer.changed.line},
                 {"buffer_file", buffer.made.file},
                 {"buffer_line", buffer.made.line},
                 {"buffer_nth", buffer.nth}});
    }
    if (buffer.enque_id >= 0) {
      Await(core, buffer.enque_event, buffer.enque_id, loc);
      ReleaseId(core, buffer.enque_event, buffer.enque_id);
      buffer.enque_id = -1;
    }
    buffer.state = BufferState::DeQueued;
    buffer.changed = loc;
    EmitBuffer(core, Kind::DeQue, "DeQue", core.buffers[index], loc);
    return index;
  }

  GNT_NOINLINE void Free(Core& core, uint16_t index, HardEvent event, Loc loc) {
    Buffer& buffer = Mine(core, index, "FreeTensor", loc);
    if (buffer.state == BufferState::Free) {
      RefuseUsesAfterFree(core, index);  // the first FreeTensor came too early
      WrongState(core, "FreeTensor", buffer, loc);
    }
    if (buffer.state == BufferState::EnQueued) WrongState(core, "FreeTensor", buffer, loc);
    buffer.state = BufferState::Free;
    buffer.changed = buffer.freed = loc;
    buffer.alive = buffer.lent + 1;
    if (event != HardEvent::V_V) {
      buffer.free_event = event;
      buffer.free_id = ReserveId(core, event, "FreeTensor", loc);
      if (buffer.free_id >= 0) Raise(core, event, buffer.free_id, loc, "FreeTensor");
    }
    EmitBuffer(core, Kind::Free, "FreeTensor", core.buffers[index], loc);
  }

  // Waits for the flags that FreeTensor left, as TPipe::Reset and the end of a kernel do.
  void FreeAllEvent(Core& core, Loc loc) {
    for (uint16_t i = 0; i < buffers_; ++i) {
      Buffer& buffer = core.buffers[first_ + i];
      if (buffer.free_id < 0) continue;
      Await(core, buffer.free_event, buffer.free_id, loc);
      ReleaseId(core, buffer.free_event, buffer.free_id);
      buffer.free_id = -1;
    }
  }

  bool HasIdle(const Core& core) const {
    for (uint16_t i = 0; i < buffers_; ++i) {
      if (core.buffers[first_ + i].state == BufferState::Free) return true;
    }
    return false;
  }
  // Reports a second InitBuffer, which takes new memory. A queue loses its first buffers, which start at `index`, with
  // their contents. For a TBuf this only wastes memory, because its tensors stay where they were.
  static void ReportIfInitialised(Core& core, uint16_t index, bool queue, Loc loc) {
    const Buffer& before = core.buffers[index];
    if (index >= core.buffer_count || before.pipe != core.pipes) return;  // the pipe was reset, or is another one
    const FieldList fields{{"buffer_file", before.made.file},
                           {"buffer_line", before.made.line},
                           {"buffer_nth", before.nth},
                           {"bytes", before.bytes}};
    if (queue) {
      core.Fault("init-buffer-twice", loc, before.made, fields);
    } else {
      core.Warn("init-buffer-twice", loc, before.made, fields);
    }
  }
  bool Owns(uint16_t index) const { return index >= first_ && index < first_ + buffers_; }

 private:
  static const char* NameOf(BufferState state) {
    switch (state) {
      case BufferState::Gone:
      case BufferState::Free: return "free";
      case BufferState::Occupied: return "allocated";
      case BufferState::EnQueued: return "enqueued";
      case BufferState::DeQueued: return "dequeued";
    }
    return "?";
  }

  // Adds a cause to the finding, if DeQue has returned a tensor of this queue that is not freed yet.
  GNT_COLD void AddTaken(const Core& core, FieldList& fields) const {
    for (uint32_t i = 0; i < buffers_; ++i) {
      const Buffer& one = core.buffers[first_ + i];
      if (one.state != BufferState::DeQueued) continue;
      fields.Add({"cause", "taken-already"});
      fields.Add({"taken_file", one.changed.file});
      fields.Add({"taken_line", one.changed.line});
      fields.Add({"taken_op", "DeQue"});
      return;
    }
  }
  [[noreturn]] GNT_COLD void StopAsking(Core& core, const char* op, Loc loc) const {
    const Loc made = buffers_ != 0 ? core.buffers[first_].made : Loc{};
    core.Stop("queue-polled", loc,
              {{"op", op}, {"times", core.queue_asks}, {"buffer_file", made.file}, {"buffer_line", made.line}});
  }
  void RequireBuffers(Core& core, const char* op, Loc loc) const {
    if (buffers_ == 0) core.Stop("queue-not-initialised", loc, {{"op", op}});
    core.RequirePipe(core.buffers[first_], op, loc);
  }
  Buffer& Mine(Core& core, uint16_t index, const char* op, Loc loc) const {
    RequireBuffers(core, op, loc);
    if (!Owns(index)) {
      const Buffer& mine = core.buffers[first_];
      const Buffer other = index < core.buffer_count ? core.buffers[index] : Buffer{};
      core.Stop("queue-foreign-tensor", loc,
                {{"op", op},
                 {"buffer_file", mine.made.file},
                 {"buffer_line", mine.made.line},
                 {"buffer_nth", mine.nth},
                 {"other_file", other.made.file},
                 {"other_line", other.made.line},
                 {"other_nth", other.nth}});
    }
    return core.buffers[index];
  }
  [[noreturn]] GNT_COLD void WrongState(Core& core, const char* op, const Buffer& buffer, Loc loc) const {
    core.Stop("queue-wrong-state", loc,
              {{"op", op},
               {"state", NameOf(buffer.state)},
               {"buffer_file", buffer.made.file},
               {"buffer_line", buffer.made.line},
               {"buffer_nth", buffer.nth},
               {"since_file", buffer.changed.file},
               {"since_line", buffer.changed.line}});
  }

  uint16_t first_ = 0;
  uint16_t buffers_ = 0;
  uint16_t cursor_ = 0;
  uint16_t head_ = 0;
  uint32_t queued_ = 0;
  uint16_t fifo_[kMaxBuffers] = {};
};

}  // namespace gn_twin
