// The race checker on global memory. It checks each access of a core against earlier ones of the core's pipes. It
// records the access for the pipes and for the other blocks.
#pragma once
#include "gn_twin/checkers/race_report.h"
#include "gn_twin/shadow/race_state.h"

namespace gn_twin {

class RaceGlobal {
 public:
  RaceGlobal(uint32_t blocks, bool auto_sync, Sites& sites) : between(blocks), auto_sync_(auto_sync), sites_(sites) {}

  // Reports an access of `pipe` that is not in order with an earlier access of any pipe; for the scalar unit, of any
  // other pipe. seen: the work of each pipe that `pipe` has seen.
  void Check(Core& core, RaceState& state, uint32_t pipe, bool writes, bool atomic, const RowSet& rows,
             const Site& site, const LaneStamps& seen) {
    uint32_t unseen = state.global.Last().NewerThan(seen) & LanesAgainst(writes);
    if (pipe == kS) unseen &= ~LanesOf(kS);
    if (unseen != 0) Look(core, state, pipe, writes, atomic, rows, site, seen, unseen);
  }
  // Records the access of a copy; returns its stamp.
  Stamp Mark(Core& core, RaceState& state, const Site& site, uint32_t pipe, Use use, const RowSet& rows) {
    const Stamp stamp = StampOf(state.clocks.Now(pipe), Gather(core, state, site, pipe, use, rows));
    state.global.Add(LaneOf(pipe, use != Use::Read), stamp, use == Use::Atomic, rows);
    return stamp;
  }
  // Records a copy to memory that already holds stores; returns its stamp. If the copy has one row, the elements at the
  // row's start and end that equal the memory's are recorded as Use::Equal, and the rest as Use::Write. A copy of
  // several rows is Use::Equal if all bytes equal the memory's, else Use::Write. Equal bytes from two blocks do no
  // harm. `from`: the copy's rows in the Unified Buffer, `pitch` bytes apart.
  GNT_COLD Stamp MarkAgain(Core& core, RaceState& state, const Site& site, uint32_t pipe, const RowSet& rows,
                           const uint8_t* from, uint64_t pitch, uint32_t element_bytes) {
    uint64_t same = 0;  // equal bytes at the start; same_end: at the end
    uint64_t same_end = 0;
    const uint8_t* const there = reinterpret_cast<const uint8_t*>(rows.at);
    if (rows.count == 1) {
      while (same < rows.row_bytes && there[same] == from[same]) ++same;
      while (same_end < rows.row_bytes - same &&
             there[rows.row_bytes - 1 - same_end] == from[rows.row_bytes - 1 - same_end])
        ++same_end;
      same -= same % element_bytes;
      same_end -= same_end % element_bytes;
    } else {
      uint64_t row = 0;
      while (row < rows.count && __builtin_memcmp(there + row * rows.pitch, from + row * pitch, rows.row_bytes) == 0)
        ++row;
      if (row == rows.count) {
        const Stamp stamp = StampOf(state.clocks.Now(pipe), Gather(core, state, site, pipe, Use::Equal, rows));
        state.global.Add(LaneOf(pipe, true), stamp, false, rows);
        return stamp;
      }
    }
    const auto gather = [&](uint64_t begin, uint64_t bytes, Use use) {
      if (bytes != 0) Gather(core, state, site, pipe, use, RowSet::Of(rows.at + begin, bytes, bytes, 1), begin);
    };
    if (same + same_end == 0) return Mark(core, state, site, pipe, Use::Write, rows);
    gather(0, same, Use::Equal);
    gather(same, rows.row_bytes - same - same_end, Use::Write);
    gather(rows.row_bytes - same_end, same_end, Use::Equal);
    const Stamp stamp = StampOf(state.clocks.Now(pipe), sites_.Number(site.loc, site.op));
    state.global.Add(LaneOf(pipe, true), stamp, false, rows);
    return stamp;
  }
  // Records an access for the other blocks; returns the number of its site. Stores of the scalar unit, and without
  // automatic synchronisation its reads too, are also recorded for the other pipes of the core when their run is
  // finished. `before`: the bytes of the access before `rows`.
  GNT_NOINLINE uint32_t Gather(Core& core, RaceState& state, const Site& site, uint32_t pipe, Use use,
                               const RowSet& rows, uint64_t before = 0) {
    OpenRuns::Open& open = state.open.Of(sites_, site, use, static_cast<uint8_t>(pipe),
                                         [&](const OpenRuns::Open& full) { FinishRun(core, state, full); });
    SharedRun& run = open.run;
    if (run.rows.count == 0 || !run.rows.Absorb(rows)) {
      if (run.rows.count != 0) FinishRun(core, state, open);
      run.rows = rows;
      run.begins = rows.at - before;
    }
    run.window = state.clocks.Now(pipe);
    if (use == Use::Write && core.atomic_op[0] != '\0') [[unlikely]]
      ended_.Note(run.site, site.loc, core);
    return run.site;
  }
  GNT_NOINLINE void FinishRuns(Core& core, RaceState& state) {
    state.open.FinishAll([&](const OpenRuns::Open& open) { FinishRun(core, state, open); });
    state.stores_open = false;
  }

  // Notes that reads of this line wait for other blocks, for up to PolledLines::kMost lines.
  GNT_COLD void NotePolling(Loc loc) {
    if (polled_.Has(loc) || polled_.count == PolledLines::kMost) return;
    polled_.all[polled_.count++] = loc;
  }
  Collision Report(Core& core) const { return {core, sites_, took_turns, polled_, ended_}; }

  BlockAccesses between;
  bool took_turns = false;  // a block waited for another: equal bytes may have been changed in between

 private:
  GNT_NOINLINE void Look(Core& core, RaceState& state, uint32_t pipe, bool writes, bool atomic, const RowSet& rows,
                         const Site& site, const LaneStamps& seen, uint32_t unseen) {
    FindLane(unseen, pipe, [&](uint32_t lane, Pipe other, bool wrote) {
      uintptr_t at = 0;
      const GlobalAccesses::Entry* entry = state.global.Newer(lane, seen.of[lane], atomic, rows, at);
      if (entry != nullptr)
        ReportGlobal(core, sites_, site, static_cast<Pipe>(pipe), writes, rows, {entry->stamp, at, other, wrote},
                     entry->rows);
      return entry != nullptr;
    });
  }
  GNT_COLD void FinishRun(Core& core, RaceState& state, const OpenRuns::Open& open) {
    between.Enter(core.block, Report(core));
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
  PolledLines polled_;
  EndedAdditions ended_;
};

}  // namespace gn_twin
