// The race checker for accesses of the scalar unit: GetValue, SetValue, operator() and plain pointers.
//
// With automatic synchronisation the compiler makes the scalar unit wait for the other pipes; then only SetValue of a
// global tensor and accesses through plain pointers can be out of order. Of these, reads are not recorded for later
// writes of other pipes: the value that was read mostly goes into a later instruction, which waits for it.
#pragma once
#include "gn_twin/checkers/race_global.h"

namespace gn_twin {

class RaceScalars {
 public:
  RaceScalars(bool auto_sync, Sites& sites, RaceGlobal& global)
      : auto_sync_(auto_sync), sites_(sites), global_(global) {}

  void OnAccesses(Core& core, RaceState& state, const ScalarAccess* accesses, uint32_t count) {
    const bool quiet = Quiet(state);
    if (quiet && !core.scalars.in_gm && !core.scalars.stored) return;
    const bool global_quiet = auto_sync_ && HasSeen(state, state.global.Last());
    for (uint32_t i = 0; i < count; ++i) {
      const ScalarAccess& access = accesses[i];
      if (access.space == Space::GM) {
        OnGlobal(core, state, access, global_quiet);
      } else if (!quiet || (access.pointer && Stores(access))) {
        OnLocal(core, state, access);
      }
    }
  }
  // Whether scalar accesses of the Unified Buffer need no check: the compiler orders them, and the scalar unit has seen
  // all work of the other pipes there.
  bool Quiet(const RaceState& state) const { return auto_sync_ && HasSeen(state, state.local.Last()); }

 private:
  // Whether the scalar unit has seen all that the other pipes did to one memory.
  static bool HasSeen(const RaceState& state, const LaneStamps& last) {
    return (last.NewerThan(SeenBy(state.clocks, kS)) & ~LanesOf(kS)) == 0;
  }

  GNT_NOINLINE void OnLocal(Core& core, RaceState& state, const ScalarAccess& access) {
    const uint32_t begin = static_cast<uint32_t>(core.UbOffset(access.at));
    const LocalRange range{begin, begin + access.bytes};
    if (auto_sync_ && !access.pointer) {
      return WaitFor(state, access.access != Access::Read, [&](uint32_t lane, Stamp seen) {
        uint32_t at = 0;
        return state.local.Newer(lane, seen, range, at) != 0;
      });
    }
    const bool writes = Stores(access);
    const LaneStamps seen = SeenBy(state.clocks, kS);
    const uint32_t unseen = state.local.Last().NewerThan(seen) & ~LanesOf(kS);
    const Earlier hit = state.FindLocal(kS, writes, unseen, seen, range);
    if (hit.stamp != 0) ReportLocal(core, sites_, {access.Place(), access.Op()}, Pipe::S, writes, hit);
    if (auto_sync_ && !writes) return;
    ++state.epoch;
    const Stamp stamp = StampOf(state.clocks.Now(kS), sites_.Number(access.Place(), access.Op()));
    state.local.Mark(LaneOf(kS, writes), stamp, range);
  }

  // Makes the scalar unit wait, as the compiler does with a flag, for each pipe that works on the same bytes.
  // newer(lane, seen): whether that lane has an access which the scalar unit has not seen.
  template <class Newer>
  GNT_NOINLINE static void WaitFor(RaceState& state, bool writes, Newer newer) {
    for (uint32_t pipe = kV; pipe < kPipes; ++pipe) {
      const Stamp seen = EndOf(state.clocks.Seen(kS, pipe));
      if (!newer(LaneOf(pipe, true), seen) && !(writes && newer(LaneOf(pipe, false), seen))) continue;
      ++state.epoch;
      state.clocks.Wait(kS, state.clocks.Release(pipe));
    }
  }

  void OnGlobal(Core& core, RaceState& state, const ScalarAccess& access, bool quiet) {
    const RowSet rows{reinterpret_cast<uintptr_t>(access.at), access.bytes, access.bytes, 1};
    const bool writes = Stores(access);
    if (auto_sync_ && !writes && !access.pointer) {
      if (!quiet) {
        WaitFor(state, access.access != Access::Read, [&](uint32_t lane, Stamp seen) {
          uintptr_t at = 0;
          return state.global.Newer(lane, seen, false, rows, at) != nullptr;
        });
      }
    } else {
      global_.Check(core, state, kS, writes, false, rows, {access.Place(), access.Op()}, SeenBy(state.clocks, kS));
    }
    if (writes || !auto_sync_) state.stores_open = true;
    global_.Gather(core, state, {access.Place(), access.Op()}, kS, writes ? Use::Write : Use::Read, rows);
  }

  // Whether an access counts as a store. A use of operator() counts as a read: whether the kernel writes to the
  // reference is unknown, and an uncertain race is not reported.
  static bool Stores(const ScalarAccess& access) { return access.access == Access::Write; }

  bool auto_sync_;
  Sites& sites_;
  RaceGlobal& global_;
};

}  // namespace gn_twin
