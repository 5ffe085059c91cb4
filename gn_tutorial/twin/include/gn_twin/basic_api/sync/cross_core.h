// CrossCoreSetFlag and CrossCoreWaitFlag in mode 0: a barrier of all vector cores.
//
// Source: docs/zh/api, 同步控制/核间同步/CrossCoreSetFlag, CrossCoreWaitFlag. A wait ends when every core has set the flag. In
// the twin a wait ends when every block waits, which is one of the orders that the flag allows. So all blocks must wait
// equally often.
#pragma once
#include "gn_twin/basic_api/sync/sync.h"

namespace AscendC {

// Sets the flag when `pipe` has finished the instructions issued before.
template <uint8_t modeId, pipe_t pipe>
inline void CrossCoreSetFlag(uint16_t flagId, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(modeId == 0, "not on the twin yet: CrossCoreSetFlag in another mode than 0 (all vector cores)");
  static_assert(pipe != PIPE_S && pipe != PIPE_ALL, "CrossCoreSetFlag takes one pipe, not PIPE_S or PIPE_ALL");
  gn_twin::Core& core = gn_twin::ThisCore();
  if (flagId > 15) core.Stop("cross-core-flag", loc, {{"op", "CrossCoreSetFlag"}, {"id", flagId}});
  gn_twin::RequireWaitingCores(core, "CrossCoreSetFlag", loc);
  gn_twin::Barrier("CrossCoreSetFlag", pipe, loc, gn_twin::Kind::CrossFlag);
  ++core.cross_flags[flagId];
}

template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
inline void CrossCoreWaitFlag(uint16_t flagId, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(modeId == 0, "not on the twin yet: CrossCoreWaitFlag in another mode than 0 (all vector cores)");
  gn_twin::Core& core = gn_twin::ThisCore();
  if (flagId > 15) core.Stop("cross-core-flag", loc, {{"op", "CrossCoreWaitFlag"}, {"id", flagId}});
  if (core.cross_flags[flagId] == 0) core.Stop("cross-core-wait", loc, {{"id", flagId}, {"own_block", core.block}});
  --core.cross_flags[flagId];
  gn_twin::SyncBlocks("CrossCoreWaitFlag", core, loc);
}

}  // namespace AscendC
