// The accesses of one core in lanes: what a pipe reads is one lane, what it writes another.
#pragma once
#include "gn_twin/shadow_clock.h"
#include "gn_twin/shadow_site.h"

namespace gn_twin {

inline constexpr uint32_t kAccessLanes = 2 * kPipes;
inline constexpr uint32_t LaneOf(uint32_t pipe, bool write) { return 2 * pipe + (write ? 1 : 0); }

// Sets of lanes: one bit each.
inline constexpr uint32_t kReadLanes = 0x55;
inline constexpr uint32_t kWriteLanes = 0xaa;
inline constexpr uint32_t LanesOf(uint32_t pipe) { return uint32_t{3} << LaneOf(pipe, false); }

// A stamp for each lane: the newest there is, or the last one that somebody has seen.
struct LaneStamps {
  Stamp of[kAccessLanes] = {};

  // The lanes with a newer stamp than `seen` has.
  uint32_t NewerThan(const LaneStamps& seen) const {
    uint32_t newer = 0;
    for (uint32_t lane = 0; lane < kAccessLanes; ++lane)
      newer |= static_cast<uint32_t>(of[lane] > seen.of[lane]) << lane;
    return newer;
  }
};

// What the next instruction of `pipe` has seen.
inline LaneStamps SeenBy(const PipeClocks& clocks, uint32_t pipe) {
  LaneStamps seen;
  for (uint32_t lane = 0; lane < kAccessLanes; ++lane) seen.of[lane] = EndOf(clocks.Seen(pipe, lane / 2));
  return seen;
}

}  // namespace gn_twin
