// Emit, where there are no tensors: how flags, buffers, barriers and words of global memory reach the observers of a launch.
//
// Emitting is the second of an operation's three steps: validate, emit, compute. What makes repeated calls cheap is behind it. Some
// operations are fast events: observers get the few numbers that they use of them (events/fast_events.h) in place of an event, unless
// the launch is traced. Instructions and copies are emitted by tensor/emit.h and tensor/emit_copy.h.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/events/hard_event.h"

namespace gn_twin {

// SetFlag or WaitFlag.
[[gnu::always_inline]] inline void EmitFlag(Core& core, Kind kind, AscendC::HardEvent hard_event, int id, Loc loc,
                                            const char* op) {
  if (!kObserved) return;
  if (core.cached != nullptr) [[likely]]
    return core.FlushedCache().OnFlag(core, kind, hard_event, static_cast<uint32_t>(id));
  Event event;
  event.kind = kind;
  event.pipe = kind == Kind::SetFlag ? PipesOf(hard_event).from : PipesOf(hard_event).to;
  event.op = op;
  event.loc = loc;
  event.hard_event = hard_event;
  event.event_id = static_cast<int8_t>(id);
  core.Emit(event);
}

// An event of a pipe without operands: Barrier, CrossFlag, SyncAll, CleanCache of all lines.
GNT_NOINLINE inline void EmitPipe(Core& core, Kind kind, const char* op, Pipe pipe, Loc loc) {
  if (!kObserved) return;
  Event event;
  event.kind = kind;
  event.pipe = pipe;
  event.op = op;
  event.loc = loc;
  core.Emit(event);
}

// An event of the scalar unit about one piece of memory.
GNT_NOINLINE inline void EmitPlace(Core& core, Kind kind, const char* op, const void* at, uint64_t bytes, Space space,
                                   Loc loc) {
  if (!kObserved || !core.observers->Wants(kind)) return;
  Event event;
  event.kind = kind;
  event.pipe = Pipe::S;
  event.op = op;
  event.loc = loc;
  event.operands = 1;
  event.operand[0] = Operand{};
  event.operand[0].at = static_cast<const uint8_t*>(at);
  event.operand[0].bytes = bytes;
  event.operand[0].space = space;
  core.Emit(event);
}

// An instruction uses a tensor of a buffer that is free.
GNT_COLD inline void NoteUseAfterFree(Core& core, const char* op, const char* role, uint16_t buffer, Loc loc) {
  for (uint32_t i = 0; i < core.freed_use_count; ++i) {
    const Core::FreedUse& one = core.freed_uses[i];
    if (one.buffer == buffer && one.loc.line == loc.line && one.loc.file == loc.file) return;
  }
  if (core.freed_use_count == Core::kFreedUses) return;
  core.freed_uses[core.freed_use_count++] = {op, role, loc, core.buffers[buffer].changed, buffer};
}
// The buffer is handed out again: the operation that fills it does not wait for those uses.
GNT_COLD inline void RefuseUsesAfterFree(Core& core, uint16_t buffer) {
  uint32_t kept = 0;
  const uint32_t count = core.freed_use_count;
  for (uint32_t i = 0; i < count; ++i) {
    const Core::FreedUse use = core.freed_uses[i];
    if (use.buffer != buffer) {
      core.freed_uses[kept++] = use;
      continue;
    }
    core.freed_use_count = kept;
    core.Refuse("ub-use-after-free", use.loc, core.FieldsOf(use));
  }
  core.freed_use_count = kept;
}

// GetPhyAddr gave a pointer into a buffer. From the first one on, observers get whole events: what lies between two of them is what the
// kernel itself has written through its pointers.
GNT_COLD inline void NoteUbPointer(Core& core, uint16_t buffer, Loc loc) {
  if (buffer >= core.buffer_count || core.ub_pointer_count == Core::kUbPointers) return;
  for (uint32_t i = 0; i < core.ub_pointer_count; ++i)
    if (core.ub_pointers[i].buffer == buffer) return;
  core.ub_pointers[core.ub_pointer_count++] = {loc, buffer};
  core.cached = nullptr;
  const Buffer& of = core.buffers[buffer];
  EmitPlace(core, Kind::Pointer, "GetPhyAddr", core.ub + of.offset, of.bytes, Space::UB, loc);
}

// A queue operation on a buffer of the core: Alloc, EnQue, DeQue, Free. Of EnQue and DeQue only a trace learns anything.
inline void EmitBuffer(Core& core, Kind kind, const char* op, const Buffer& buffer, Loc loc) {
  core.At(loc);
  core.queue_asks = 0;
  if (core.cached == nullptr) return EmitPlace(core, kind, op, core.ub + buffer.offset, buffer.bytes, Space::UB, loc);
  if (kind == Kind::Alloc || kind == Kind::Free)
    core.FlushedCache().OnBuffer(core, kind, buffer.offset, buffer.offset + buffer.bytes);
}

}  // namespace gn_twin
