// The race checker on global memory: what a core does there, looked at beside what its other pipes did, and taken down for them and for
// the other blocks.
#pragma once
#include "gn_twin/checkers/race_report.h"
#include "gn_twin/shadow/race_state.h"

namespace gn_twin {

class RaceGlobal {
 public:
  RaceGlobal(uint32_t blocks, bool auto_sync, Sites& sites) : between(blocks), auto_sync_(auto_sync), sites_(sites) {}

  // Reports an access of `pipe`, which has seen so much of the others, that is not in order with one of them.
  void Check(Core& core, RaceState& state, uint32_t pipe, bool writes, bool atomic, const RowSet& rows,
             const Site& site, const LaneStamps& seen) {
    uint32_t unseen = state.global.Last().NewerThan(seen) & LanesAgainst(writes);
    if (pipe == kS) unseen &= ~LanesOf(kS);
    if (unseen != 0) Look(core, state, pipe, writes, atomic, rows, site, seen, unseen);
  }
  // Takes the access of a copy down; returns its stamp.
  Stamp Mark(Core& core, RaceState& state, const Site& site, uint32_t pipe, Use use, const RowSet& rows) {
    const Stamp stamp = StampOf(state.clocks.Now(pipe), Gather(core, state, site, pipe, use, rows));
    state.global.Add(LaneOf(pipe, use != Use::Read), stamp, use == Use::Atomic, rows);
    return stamp;
  }
  // Takes an access down for the other blocks; returns the number of its call. What the scalar unit stores is there for the other pipes
  // too when its run is finished.
  GNT_NOINLINE uint32_t Gather(Core& core, RaceState& state, const Site& site, uint32_t pipe, Use use,
                               const RowSet& rows) {
    OpenRuns::Open& open = state.open.Of(sites_, site, use, static_cast<uint8_t>(pipe),
                                         [&](const OpenRuns::Open& full) { FinishRun(core, state, full); });
    SharedRun& run = open.run;
    if (run.rows.count == 0 || !run.rows.Absorb(rows)) {
      if (run.rows.count != 0) FinishRun(core, state, open);
      run.rows = rows;
    }
    run.window = state.clocks.Now(pipe);
    return run.site;
  }
  GNT_NOINLINE void FinishRuns(Core& core, RaceState& state) {
    state.open.FinishAll([&](const OpenRuns::Open& open) { FinishRun(core, state, open); });
    state.stores_open = false;
  }

  BlockAccesses between;

 private:
  GNT_NOINLINE void Look(Core& core, RaceState& state, uint32_t pipe, bool writes, bool atomic, const RowSet& rows,
                         const Site& site, const LaneStamps& seen, uint32_t unseen) {
    FindLane(unseen, pipe, [&](uint32_t lane, Pipe other, bool wrote) {
      uintptr_t at = 0;
      const GlobalAccesses::Entry* entry = state.global.Newer(lane, seen.of[lane], atomic, rows, at);
      if (entry != nullptr)
        ReportGlobal(core, sites_, site, static_cast<Pipe>(pipe), writes, {entry->stamp, at, other, wrote});
      return entry != nullptr;
    });
  }
  GNT_COLD void FinishRun(Core& core, RaceState& state, const OpenRuns::Open& open) {
    between.Enter(core.block, Collision{core, sites_});
    SharedRun run = open.run;
    run.block = core.block;
    run.interval = between.order.Now(core.block);
    run.late = state.flag_sent;
    between.Add(run);
    if (run.pipe == kS && (run.use != Use::Read || !auto_sync_))
      state.global.Add(LaneOf(kS, run.use != Use::Read), StampOf(run.window, run.site), false, run.rows);
  }
  bool auto_sync_;
  Sites& sites_;
};

}  // namespace gn_twin
