// Polling: a block that repeatedly reads the same words of global memory waits for another block, so the others must
// get a turn.
//
// The value that ends a polling loop also orders the blocks: a block that has read the value sees all work done before
// the value was stored. So, from the first polling loop of a launch on, stores of a few bytes are emitted as Release,
// and the reads of the loop's line as Acquire. A loop that finds its value at the first read is not noticed.
#pragma once
#include "gn_twin/core/emit.h"
#include "gn_twin/core/scheduler.h"

namespace gn_twin {

// Returns the address that identifies a word in Release and Acquire: the start of its cache line, because a copy and a
// store of one word need not begin at the same byte.
inline const void* PolledWord(const void* at) {
  return reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(at) & ~uintptr_t{63});
}

GNT_COLD inline void NotePolledRead(Core& core, const char* op, const void* at, Loc loc) {
  if (core.scheduler->IsPolling(loc)) EmitPlace(core, Kind::Acquire, op, PolledWord(at), 1, Space::GM, loc);
}
GNT_COLD inline void TakeTurn(Core& core, const char* op, const void* at, Loc loc) {
  core.FlushScalars();
  core.scheduler->Poll(core, op, loc, core.polls.moved);
  core.polls.TookTurn();
  NotePolledRead(core, op, at, loc);
}

// Lets the other blocks run if this block has only repeated its reads, and emits an Acquire if blocks have polled in
// this line. Call this before a read of global memory.
[[gnu::always_inline]] inline void NoteGlobalRead(Core& core, const char* op, const void* at, Loc loc) {
  if (core.polls.Idle(loc.line, static_cast<const uint8_t*>(at)) && core.job->blocks > 1) [[unlikely]]
    return TakeTurn(core, op, at, loc);
  if (core.scheduler->AnyPoll()) [[unlikely]]
    NotePolledRead(core, op, at, loc);
}
// Notes that the block makes progress. Emits a Release if blocks have polled and the store has at most 64 bytes. Call
// this after a store to global memory was emitted.
[[gnu::always_inline]] inline void NoteGlobalStore(Core& core, const char* op, const void* at, uint64_t bytes,
                                                   Loc loc) {
  core.polls.Moved();
  if (core.scheduler->AnyPoll() && bytes <= 64) [[unlikely]]
    EmitPlace(core, Kind::Release, op, PolledWord(at), 1, Space::GM, loc);
}

}  // namespace gn_twin
