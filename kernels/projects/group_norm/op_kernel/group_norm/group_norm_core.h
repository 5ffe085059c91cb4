// What the classes of step 5 and later need of the core that they run on: its share of the work, and waits between its pipes.
#pragma once
#include "../common/common_sync.h"
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
