// What the classes of step 5 and later need of the core that they run on: its share of the work, and waits between its pipes.
#pragma once
#include "group_norm_tiling.h"
#include "kernel_operator.h"

struct GroupNormShare {
  uint32_t first;
  uint32_t last;  // one behind the end
};

// What belongs to this core, of groups or, in step 6, of tiles; the first extraGroups cores take one more than the others.
__aicore__ inline GroupNormShare ShareOfCore(const __gm__ GroupNormTilingData* tiling) {
  const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
  const uint32_t extra = core < tiling->extraGroups ? core : tiling->extraGroups;
  const uint32_t first = core * tiling->groupsPerCore + extra;
  return {first, first + tiling->groupsPerCore + (core < tiling->extraGroups ? 1 : 0)};
}

// The second pipe of the event waits until the first has done all it was given so far.
template <AscendC::HardEvent event>
__aicore__ inline void SyncPipes(AscendC::TPipe* pipe) {
  const AscendC::TEventID id = pipe->FetchEventID<event>();
  AscendC::SetFlag<event>(id);
  AscendC::WaitFlag<event>(id);
}
