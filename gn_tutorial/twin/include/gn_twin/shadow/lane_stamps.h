// Lanes of the access history, and a stamp for each lane. A pipe has two lanes: one for its reads, one for its writes.
#pragma once
#include "gn_twin/shadow/vector_clock.h"
#include "gn_twin/shadow/access_site.h"

namespace gn_twin {

inline constexpr uint32_t kAccessLanes = 2 * kPipes;
inline constexpr uint32_t LaneOf(uint32_t pipe, bool write) { return 2 * pipe + (write ? 1 : 0); }

// Returns the set of a pipe's two lanes. A set has one bit per lane.
inline constexpr uint32_t LanesOf(uint32_t pipe) { return uint32_t{3} << LaneOf(pipe, false); }
// Returns the set of lanes with which an access may conflict: all lanes for a write, the lanes of writes for a read.
inline constexpr uint32_t LanesAgainst(bool writes) {
  static_assert(kAccessLanes == 8);
  return writes ? 0xff : 0xaa;
}

// Calls found(lane, its pipe, whether it has the pipe's writes) for the lanes of a set until found returns true. Lanes
// of reads come first, then lanes of writes; in both groups the lane of `pipe` comes last. So if bytes were written and
// then read, the read is found: an access that waits for the read need not also wait for the write.
template <class Found>
void FindLane(uint32_t lanes, uint32_t pipe, Found found) {
  for (const bool wrote : {false, true}) {
    for (uint32_t step = 1; step <= kPipes; ++step) {
      const uint32_t other = (pipe + step) % kPipes;
      const uint32_t lane = LaneOf(other, wrote);
      if ((lanes >> lane & 1) != 0 && found(lane, static_cast<Pipe>(other), wrote)) return;
    }
  }
}

// A stamp for each lane: the lane's newest stamp, or the last one that a pipe has seen.
struct LaneStamps {
  Stamp of[kAccessLanes] = {};

  // Returns the set of lanes with a newer stamp than in `seen`.
  uint32_t NewerThan(const LaneStamps& seen) const {
    uint32_t newer = 0;
    for (uint32_t lane = 0; lane < kAccessLanes; ++lane)
      newer |= static_cast<uint32_t>(of[lane] > seen.of[lane]) << lane;
    return newer;
  }
};

// Returns, for each lane, the last stamp that the next instruction of `pipe` has seen.
inline LaneStamps SeenBy(const PipeClocks& clocks, uint32_t pipe) {
  LaneStamps seen;
  for (uint32_t lane = 0; lane < kAccessLanes; ++lane) seen.of[lane] = EndOf(clocks.Seen(pipe, lane / 2));
  return seen;
}

}  // namespace gn_twin
