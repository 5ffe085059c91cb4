// The state of the race checker for one core: its vector clocks, its latest accesses, and the accesses of other pipes
// that a pipe has not seen.
#pragma once
#include "gn_twin/shadow/block_accesses.h"
#include "gn_twin/shadow/global_accesses.h"
#include "gn_twin/shadow/ub_accesses.h"

namespace gn_twin {

inline constexpr uint32_t kS = 0;
inline constexpr uint32_t kV = 1;

// An earlier access of the same core that is not ordered before the present one.
struct Earlier {
  Stamp stamp = 0;
  uintptr_t at = 0;  // the first byte that both touch: an offset in the Unified Buffer, or an address in global memory
  Pipe pipe = Pipe::S;
  bool wrote = false;
};

// The record of the race checker for one core. The next block reuses it: when a block starts, all earlier accesses
// count as seen.
struct RaceState {
  explicit RaceState(bool auto_sync) : auto_sync(auto_sync) {
    for (uint32_t pipe = 0; pipe < kPipes; ++pipe)
      for (uint32_t other = 0; other < kPipes; ++other)
        if (!InOrder(pipe, other)) waits_for[pipe] |= LanesOf(other);
  }

  const bool auto_sync;
  uint32_t waits_for[kPipes] = {};  // by pipe: the lanes of local memory that it must wait for with flags
  PipeClocks clocks;
  UbAccesses local;
  GlobalAccesses global;
  OpenRuns open;
  // The number of changes so far. Between two changes, all instructions of a pipe have seen the same accesses of the
  // other pipes. A change is anything that may alter these accesses: an instruction of another pipe, a flag, a wait of
  // the scalar unit.
  uint32_t epoch = 0;
  struct {
    uint32_t epoch = 0;
    uint32_t unseen = 0;      // lanes with accesses for which the vector pipe must still wait,
    LaneStamps seen;          // and the last stamp of each lane that this pipe has seen
  } vector;                   // the state of the vector pipe in that epoch
  bool stores_open = false;   // an open run holds stores of the scalar unit
  bool flag_sent = false;     // a CrossCoreSetFlag whose CrossCoreWaitFlag has not come yet
  Clock sent;                 // the work that such flags cover; CrossCoreWaitFlag also waits for this core's own flag
  RaceState* next = nullptr;  // in the list of idle states

  void Begin() {
    ++epoch;
    clocks.Barrier(Pipe::All);
    stores_open = flag_sent = false;
    sent = Clock{};
  }

  // Whether accesses of `pipe` to local memory need no flag to come after those of `other`: both are of the scalar unit,
  // which works in order, or the compiler orders them. It does not order stores through plain pointers, the only accesses
  // of the scalar unit that are then recorded; RaceScalars checks loads through them.
  bool InOrder(uint32_t pipe, uint32_t other) const {
    if (pipe == other) return pipe == kS || (pipe == kV && auto_sync);
    return auto_sync && pipe == kS;
  }

  // Returns the lanes of local memory with accesses that `pipe` must wait for, given what it has seen.
  uint32_t Unseen(uint32_t pipe, const LaneStamps& seen) const {
    return local.Last().NewerThan(seen) & waits_for[pipe];
  }

  // Returns the last stamp of `pipe` for which all pipes that must wait for it have waited.
  Stamp Settled(uint32_t pipe) const {
    uint32_t window = ~uint32_t{0};
    for (uint32_t other = 0; other < kPipes; ++other) {
      const uint32_t seen = InOrder(other, pipe) ? window : clocks.Seen(other, pipe);
      window = seen < window ? seen : window;
    }
    return EndOf(window);
  }

  // Issues an instruction of `pipe`: returns the lanes for which it must wait, and sets `seen` to what it has seen.
  uint32_t Issue(uint32_t pipe, LaneStamps& seen) {
    clocks.Issue(pipe);
    seen = SeenBy(clocks, pipe);
    return Unseen(pipe, seen);
  }
  // Returns the lanes for which the vector pipe must wait. They are computed once per epoch and kept in `vector`.
  uint32_t UnseenByVector() {
    if (vector.epoch != epoch) {
      vector.epoch = epoch;
      vector.unseen = Issue(kV, vector.seen);
    }
    return vector.unseen;
  }

  // Returns an access in one of the `unseen` lanes that is newer than the lane's stamp in `seen` and conflicts with an
  // access of `pipe` to the range (`writes`: with a write). Its stamp is 0 if there is none.
  GNT_NOINLINE Earlier FindLocal(uint32_t pipe, bool writes, uint32_t unseen, const LaneStamps& seen,
                                 LocalRange range) const {
    Earlier hit;
    FindLane(unseen & LanesAgainst(writes), pipe, [&](uint32_t lane, Pipe other, bool wrote) {
      uint32_t at = 0;
      const Stamp stamp = local.Newer(lane, seen.of[lane], range, at);
      if (stamp != 0) hit = {stamp, at, other, wrote};
      return stamp != 0;
    });
    return hit;
  }
};

}  // namespace gn_twin
