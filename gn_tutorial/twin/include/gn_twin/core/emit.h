// Emits operations without tensors: passes flags, buffers, barriers and words of global memory to the observers of a
// launch.
//
// An operation has three steps: validate, emit, compute. The emit step also makes repeated calls cheap. Some operations
// are fast events (events/fast_events.h): unless the launch is traced, observers get only the few numbers that they
// use, in place of an event. tensor/emit.h and tensor/emit_copy.h emit instructions and copies.
#pragma once
#include "gn_twin/core/core.h"
#include "gn_twin/events/hard_event.h"

namespace gn_twin {

// Emits SetFlag or WaitFlag.
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

// Emits an event of a pipe, without operands: Barrier, CrossFlag, SyncAll, or CleanCache of all lines.
GNT_NOINLINE inline void EmitPipe(Core& core, Kind kind, const char* op, Pipe pipe, Loc loc) {
  if (!kObserved) return;
  Event event;
  event.kind = kind;
  event.pipe = pipe;
  event.op = op;
  event.loc = loc;
  core.Emit(event);
}

// Emits an event of the scalar unit about one piece of memory.
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

// Notes that an instruction uses a tensor of a freed buffer. The use is reported later. Eight uses are noted at most.
GNT_COLD inline void NoteUseAfterFree(Core& core, const char* op, const char* role, uint16_t buffer, Loc loc) {
  for (uint32_t i = 0; i < core.freed_use_count; ++i) {
    const Core::FreedUse& one = core.freed_uses[i];
    if (one.buffer == buffer && one.loc.line == loc.line && one.loc.file == loc.file) return;
  }
  if (core.freed_use_count == Core::kFreedUses) return;
  core.freed_uses[core.freed_use_count++] = {op, role, loc, core.buffers[buffer].freed, buffer};
}
// Refuses the noted uses of a freed buffer. Called when AllocTensor hands the buffer out `again`, because the operation
// that fills it next does not wait for these uses; when it has done so before a use; and when the buffer is freed a
// second time.
GNT_COLD inline void RefuseUsesAfterFree(Core& core, uint16_t buffer, Loc again = {}) {
  uint32_t kept = 0;
  const uint32_t count = core.freed_use_count;
  for (uint32_t i = 0; i < count; ++i) {
    const Core::FreedUse use = core.freed_uses[i];
    if (use.buffer != buffer) {
      core.freed_uses[kept++] = use;
      continue;
    }
    core.freed_use_count = kept;
    FieldList fields = core.FieldsOf(use);
    fields.Add({"again_file", again.file});
    fields.Add({"again_line", again.line});
    core.Refuse("ub-use-after-free", use.loc, fields);
  }
  core.freed_use_count = kept;
}

// Emits a queue operation on a buffer of the core: Alloc, EnQue, DeQue or Free. Only a trace uses EnQue and DeQue.
inline void EmitBuffer(Core& core, Kind kind, const char* op, const Buffer& buffer, Loc loc) {
  core.At(loc);
  core.queue_asks = 0;
  if (core.cached == nullptr) return EmitPlace(core, kind, op, core.ub + buffer.offset, buffer.bytes, Space::UB, loc);
  if (kind == Kind::Alloc || kind == Kind::Free)
    core.FlushedCache().OnBuffer(core, kind, buffer.offset, buffer.offset + buffer.bytes);
}

}  // namespace gn_twin
