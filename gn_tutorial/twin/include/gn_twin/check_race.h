// The race checker: accesses to the same bytes, at least one of them a write, that no flag, barrier or meeting puts in order.
//
// Inside a core between its pipes, on the Unified Buffer and on global memory; between the blocks of a launch on global memory.
// With TwinOptions(auto_sync="on") the compiler orders vector instructions among themselves and the accesses of the scalar unit
// through GetValue, SetValue of local tensors and operator() with all pipes; SetValue of a global tensor is not on its list.
// Source: docs/zh/api, 同步控制/核内同步/关键特性说明 (what is automatic), PipeBarrier (copies with overlapping destinations).
#pragma once
#include <new>

#include "gn_twin/check_race_report.h"
#include "gn_twin/footprint.h"
#include "gn_twin/shadow_race.h"

namespace gn_twin {

class CheckRace final : public Observer {
 public:
  explicit CheckRace(const GntJob& job)
      : auto_sync_(job.options.auto_sync == 0),
        between_(job.blocks > 0 ? job.blocks : 1),
        cores_(new RaceCore*[job.blocks > 0 ? job.blocks : 1]()),
        blocks_(job.blocks) {}
  ~CheckRace() override {
    for (uint32_t i = 0; i < blocks_; ++i) delete cores_[i];
    while (idle_ != nullptr) {
      RaceCore* const next = idle_->next;
      delete idle_;
      idle_ = next;
    }
    delete[] cores_;
  }
  CheckRace(const CheckRace&) = delete;
  CheckRace& operator=(const CheckRace&) = delete;

  void OnBlockBegin(Core& core) override {
    RaceCore*& state = cores_[core.block];
    state = idle_ != nullptr ? idle_ : new RaceCore(auto_sync_);
    if (!state->local.Ready()) throw std::bad_alloc();
    idle_ = state->next;
    state->next = nullptr;
    state->Begin();
  }
  void OnBlockEnd(Core& core) override {
    RaceCore* const state = cores_[core.block];
    FinishRuns(core, *state);
    cores_[core.block] = nullptr;
    state->next = idle_;
    idle_ = state;
  }
  void OnLaunchEnd(Core& core) override { between_.Sweep(Collision{core, sites_}); }

  Kinds Wants() const override {
    return KindsOf(Kind::Vector, Kind::Copy, Kind::SetFlag, Kind::WaitFlag, Kind::Barrier, Kind::CrossFlag, Kind::Meet,
                   Kind::Publish, Kind::Accept);
  }
  void OnEvent(Core& core, const Event& event) override {
    RaceCore& state = *cores_[core.block];
    if (event.kind != Kind::Vector || event.pipe != Pipe::V || !auto_sync_) ++state.epoch;
    switch (event.kind) {
      case Kind::Vector:
      case Kind::Copy: return OnInstruction(core, state, event);
      case Kind::SetFlag:
      case Kind::WaitFlag:
        return Flag(core, state, event.kind, event.hard_event, static_cast<uint32_t>(event.event_id));
      case Kind::Barrier:
        if (state.stores_open) FinishRuns(core, state);
        state.clocks.Barrier(event.pipe);
        return Bound(state);
      case Kind::CrossFlag:
        FinishRuns(core, state);
        if (event.pipe != Pipe::All) {
          state.clocks.Issue(IndexOf(event.pipe));
          const Clock covered = state.clocks.Release(IndexOf(event.pipe));
          between_.Cover(core.block, covered);
          state.sent.Join(covered);
        }
        state.flag_sent = true;
        return Bound(state);
      case Kind::Meet:
        FinishRuns(core, state);
        state.clocks.Wait(kS, state.sent);
        state.flag_sent = false;
        state.sent = Clock{};
        return between_.Meet(core.block);
      case Kind::Publish: FinishRuns(core, state); return between_.order.Publish(core.block, event.operand[0].at);
      case Kind::Accept: FinishRuns(core, state); return between_.order.Accept(core.block, event.operand[0].at);
      default: return;
    }
  }

  // The same of a flag without its event.
  void OnFlag(Core& core, RaceCore& state, Kind kind, HardEvent event, uint32_t id) {
    ++state.epoch;
    Flag(core, state, kind, event, id);
  }

  // Whether nothing on the Unified Buffer is out of order with a copy that reads or writes the range there: else it is told in full, as
  // where the scalar unit has been at global memory.
  // `seen`: what the copy's pipe has seen.
  static bool CanCopy(RaceCore& state, Pipe pipe, LocalRange range, LaneStamps& seen) {
    ++state.epoch;
    state.clocks.Issue(IndexOf(pipe));
    seen = SeenBy(state.clocks, IndexOf(pipe));
    const uint32_t unseen = state.Unseen(IndexOf(pipe), seen);
    return unseen == 0 || state.FindLocal(IndexOf(pipe), pipe == Pipe::MTE2, unseen, seen, range).stamp == 0;
  }
  // Such a copy, from or to these rows of global memory.
  void OnCopy(Core& core, RaceCore& state, const ShortCopy& copy, LocalRange range, const RowSet& rows,
              const LaneStamps& seen) {
    const uint32_t pipe = IndexOf(copy.pipe);
    const bool in = copy.pipe == Pipe::MTE2;
    CheckGlobal(core, state, pipe, !in, false, rows, {copy.loc, copy.op}, seen);
    OpenRuns::Open& open = OpenOf(core, state, {copy.loc, copy.op}, in ? Use::Read : Use::Write, pipe);
    const Stamp stamp = StampOf(state.clocks.Now(pipe), open.run.site);
    state.local.Mark(LaneOf(pipe, in), stamp, range);
    state.global.Add(LaneOf(pipe, !in), stamp, false, rows);
    Gather(core, state, open, rows);
  }

  RaceCore* StateOf(const Core& core) const { return cores_[core.block]; }
  // A known call comes again: in the same order with all other pipes it was looked at already, and left the marks it would leave now.
  // False if it has to be told in full: among runs that are no rows somebody else was at work.
  bool Again(Core& core, RaceCore& state, KnownCall& call) {
    if (!auto_sync_) ++state.epoch;
    return call.epoch == state.epoch || LookAgain(core, state, call);
  }
  void Learn(const RaceCore& state, KnownCall& call) {
    call.epoch = state.epoch;
    call.site = sites_.Number({call.key.file, call.key.line}, call.key.op);
  }

  void OnScalars(Core& core, const ScalarAccess* accesses, uint32_t count) override {
    RaceCore& state = *cores_[core.block];
    const bool quiet = LocalQuiet(state);
    if (quiet && !core.scalars.in_gm) return;
    const bool global_quiet = auto_sync_ && HasSeen(state, state.global.Last());
    for (uint32_t i = 0; i < count; ++i) {
      const ScalarAccess& access = accesses[i];
      if (access.space == Space::GM) {
        OnGlobalScalar(core, state, access, global_quiet);
      } else if (!quiet) {
        OnLocalScalar(core, state, access);
      }
    }
  }

  void Quiet(Core& core, const ScalarAccess&, QuietBytes& quiet) override {
    if (!LocalQuiet(*cores_[core.block])) quiet = {};
  }

 private:
  void Flag(Core& core, RaceCore& state, Kind kind, HardEvent event, uint32_t id) {
    if (kind == Kind::WaitFlag) return state.clocks.WaitFlag(event, id);
    if (state.stores_open && PipesOf(event).from == Pipe::S) FinishRuns(core, state);
    state.clocks.SetFlag(event, id);
    Bound(state);
  }

  // --- one core ---------------------------------------------------------------------------------------------------------

  // Calls visit_rows(rows) for the bytes of the operand, if they are rows at a pitch; else visit_run(range) for run after run.
  template <class VisitRows, class VisitRun>
  static void ForRows(const Core& core, const Event& event, const Operand& operand, VisitRows visit_rows,
                      VisitRun visit_run) {
    LocalRows rows;
    if (AsRows(event, operand, static_cast<uint32_t>(operand.at - core.ub), rows) && rows.range.end <= kUbBytes)
      return visit_rows(rows);
    ForBytes(event, operand, [&](const uint8_t* at, uint64_t bytes) { visit_run(RangeOf(core, at, bytes)); });
  }
  static LocalRange RangeOf(const Core& core, const Operand& operand) {
    return RangeOf(core, operand.at, operand.bytes);
  }
  static LocalRange RangeOf(const Core& core, const uint8_t* at, uint64_t bytes) {
    const uint64_t begin = static_cast<uint64_t>(at - core.ub);
    const uint64_t end = begin + bytes < kUbBytes ? begin + bytes : kUbBytes;
    return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  // Reports what `pipe` has not seen of the others on bytes of the range: each(visit) calls visit(range) for those that are touched. They
  // are looked at one by one only if there is something in the range, which is rare.
  template <class Each>
  void Look(Core& core, const RaceCore& state, const Site& site, uint32_t pipe, bool writes, uint32_t unseen,
            const LaneStamps& seen, LocalRange range, Each each) {
    if (state.FindLocal(pipe, writes, unseen, seen, range).stamp == 0) [[likely]]
      return;
    each([&](LocalRange touched) {
      const Earlier hit = state.FindLocal(pipe, writes, unseen, seen, touched);
      if (hit.stamp != 0) ReportLocal(core, sites_, site, static_cast<Pipe>(pipe), writes, hit);
    });
  }

  // A known call for the first time since something changed.
  GNT_ONCE bool LookAgain(Core& core, RaceCore& state, KnownCall& call) {
    const Site site{{call.key.file, call.key.line}, call.key.op};
    if (const uint32_t unseen = state.UnseenByVector(); unseen != 0) {
      const auto look = [&](const auto& touched, bool writes) {
        Look(core, state, site, kV, writes, unseen, state.vector.seen, touched.range,
             [&](auto visit) { touched.ForEach(visit); });
      };
      for (uint32_t i = 0; i < call.parts; ++i) {
        const KnownCall::Part& part = call.part[i];
        const bool writes = part.access != Access::Read;
        if (part.touches != Touches::Runs) {
          look(call.rows[i], writes);
        } else if (state.FindLocal(kV, writes, unseen, state.vector.seen, part.range).stamp != 0) {
          return false;
        }
      }
      if (call.Gathers()) look(call.pieces, false);
    }
    const Stamp stamp = StampOf(state.clocks.Now(kV), call.site);
    for (uint32_t i = 0; i < call.parts; ++i) {
      const KnownCall::Part& part = call.part[i];
      LocalShadow::ForLanesOf(kV, part.access, [&](uint32_t lane) {
        if (part.touches != Touches::Runs) return state.local.Mark(lane, stamp, call.rows[i]);
        state.local.MarkMasked(lane, stamp, part.range, part.masks);
      });
    }
    if (call.Gathers()) state.local.MarkPieces(LaneOf(kV, false), stamp, call.pieces, state.Settled(kV));
    call.epoch = state.epoch;
    return true;
  }

  GNT_ONCE void OnInstruction(Core& core, RaceCore& state, const Event& event) {
    const uint32_t pipe = IndexOf(event.pipe);
    if (pipe >= kPipes) return;
    if (state.stores_open && event.kind == Kind::Copy) FinishRuns(core, state);
    uint32_t unseen = 0;
    LaneStamps seen;
    if (pipe == kV) {
      unseen = state.UnseenByVector();
      seen = state.vector.seen;
    } else {
      state.clocks.Issue(pipe);
      seen = SeenBy(state.clocks, pipe);
      unseen = state.Unseen(pipe, seen);
    }
    for (uint32_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.bytes == 0) continue;
      const bool writes = operand.access != Access::Read;
      if (operand.space == Space::GM) {
        CheckGlobal(core, state, pipe, writes, core.atomic != 0, RowSet::Of(operand), {event.loc, event.op}, seen);
        continue;
      }
      if (unseen == 0) continue;
      Look(core, state, {event.loc, event.op}, pipe, writes, unseen, seen, RangeOf(core, operand), [&](auto visit) {
        ForRows(core, event, operand, [&](const LocalRows& rows) { rows.ForEach(visit); }, visit);
      });
    }
    const uint32_t site = sites_.Number(event.loc, event.op);
    const Stamp stamp = StampOf(state.clocks.Now(pipe), site);
    for (uint32_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.bytes == 0) continue;
      if (operand.space == Space::GM) {
        MarkGlobal(core, state, event, operand, stamp);
        continue;
      }
      if (operand.pieces != nullptr && operand.row_bytes <= kBlockBytes && operand.access != Access::ReadWrite) {
        const uint32_t bytes = static_cast<uint32_t>(operand.row_bytes);
        state.local.MarkPieces(LaneOf(pipe, operand.access == Access::Write), stamp,
                               {RangeOf(core, operand), operand.pieces, operand.rows, bytes}, state.Settled(pipe));
        continue;
      }
      LocalShadow::ForLanesOf(pipe, operand.access, [&](uint32_t lane) {
        ForRows(
            core, event, operand, [&](const LocalRows& rows) { state.local.Mark(lane, stamp, rows); },
            [&](LocalRange run) { state.local.MarkRun(lane, stamp, run); });
      });
    }
  }

  // `seen`: what the pipe has seen.
  void CheckGlobal(Core& core, RaceCore& state, uint32_t pipe, bool writes, bool atomic, const RowSet& rows,
                   const Site& site, const LaneStamps& seen) {
    uint32_t unseen = state.global.Last().NewerThan(seen) & (writes ? kReadLanes | kWriteLanes : kWriteLanes);
    if (pipe == kS) unseen &= ~LanesOf(kS);
    if (unseen != 0) LookGlobal(core, state, pipe, writes, atomic, rows, site, seen, unseen);
  }
  GNT_ONCE void LookGlobal(Core& core, RaceCore& state, uint32_t pipe, bool writes, bool atomic, const RowSet& rows,
                           const Site& site, const LaneStamps& seen, uint32_t unseen) {
    for (const bool wrote : {false, true}) {
      for (uint32_t step = 1; step <= kPipes; ++step) {
        const uint32_t other = (pipe + step) % kPipes;
        const uint32_t lane = LaneOf(other, wrote);
        if ((unseen >> lane & 1) == 0) continue;
        uintptr_t at = 0;
        const GlobalShadow::Entry* entry = state.global.Newer(lane, seen.of[lane], atomic, rows, at);
        if (entry == nullptr) continue;
        return ReportGlobal(core, sites_, site, static_cast<Pipe>(pipe), writes,
                            {entry->stamp, at, static_cast<Pipe>(other), wrote});
      }
    }
  }

  void MarkGlobal(Core& core, RaceCore& state, const Event& event, const Operand& operand, Stamp stamp) {
    const bool writes = operand.access != Access::Read;
    const bool atomic = writes && core.atomic != 0;
    const uint32_t pipe = IndexOf(event.pipe);
    const RowSet rows = RowSet::Of(operand);
    state.global.Add(LaneOf(pipe, writes), stamp, atomic, rows);
    const Use use = atomic ? Use::Atomic : writes ? Use::Write : Use::Read;
    Gather(core, state, OpenOf(core, state, {event.loc, event.op}, use, pipe), rows);
  }

  // --- the scalar unit --------------------------------------------------------------------------------------------------

  // Whether the scalar unit has seen all that the other pipes did to one memory.
  static bool HasSeen(const RaceCore& state, const LaneStamps& last) {
    return (last.NewerThan(SeenBy(state.clocks, kS)) & ~LanesOf(kS)) == 0;
  }

  // Whether there is nothing on the Unified Buffer that the scalar unit would have to wait for, or be told to.
  bool LocalQuiet(const RaceCore& state) const { return auto_sync_ && HasSeen(state, state.local.Last()); }

  GNT_ONCE void OnLocalScalar(Core& core, RaceCore& state, const ScalarAccess& access) {
    const uint32_t begin = static_cast<uint32_t>(access.at - core.ub);
    const LocalRange range{begin, begin + access.bytes};
    if (auto_sync_) return WaitForLocal(state, access.access != Access::Read, range);
    const bool writes = Stores(access);
    const char* op = OpOf(access);
    const LaneStamps seen = SeenBy(state.clocks, kS);
    const uint32_t unseen = state.Unseen(kS, seen);
    const Earlier hit = state.FindLocal(kS, writes, unseen, seen, range);
    if (hit.stamp != 0) ReportLocal(core, sites_, {access.Place(), op}, Pipe::S, writes, hit);
    const Stamp stamp = StampOf(state.clocks.Now(kS), sites_.Number(access.Place(), op));
    state.local.Mark(LaneOf(kS, writes), stamp, range);
  }

  // The flag that the compiler sets and waits for before the scalar unit touches what another pipe works on.
  GNT_ONCE static void WaitForLocal(RaceCore& state, bool writes, LocalRange range) {
    for (uint32_t pipe = kV; pipe < kPipes; ++pipe) {
      const Stamp seen = EndOf(state.clocks.Seen(kS, pipe));
      uint32_t at = 0;
      if (state.local.Newer(LaneOf(pipe, true), seen, range, at) != 0 ||
          (writes && state.local.Newer(LaneOf(pipe, false), seen, range, at) != 0))
        Drain(state, pipe);
    }
  }
  GNT_ONCE static void WaitForGlobal(RaceCore& state, bool writes, const RowSet& rows) {
    for (uint32_t pipe = kV; pipe < kPipes; ++pipe) {
      const Stamp seen = EndOf(state.clocks.Seen(kS, pipe));
      uintptr_t at = 0;
      if (state.global.Newer(LaneOf(pipe, true), seen, false, rows, at) != nullptr ||
          (writes && state.global.Newer(LaneOf(pipe, false), seen, false, rows, at) != nullptr))
        Drain(state, pipe);
    }
  }
  static void Drain(RaceCore& state, uint32_t pipe) {
    ++state.epoch;
    state.clocks.Wait(kS, state.clocks.Release(pipe));
  }

  void OnGlobalScalar(Core& core, RaceCore& state, const ScalarAccess& access, bool quiet) {
    const RowSet rows{reinterpret_cast<uintptr_t>(access.at), access.bytes, access.bytes, 1};
    const bool writes = Stores(access);
    if (auto_sync_ && !writes) {
      if (!quiet) WaitForGlobal(state, access.access != Access::Read, rows);
    } else {
      CheckGlobal(core, state, kS, writes, false, rows, {access.Place(), OpOf(access)}, SeenBy(state.clocks, kS));
    }
    if (writes || !auto_sync_) state.stores_open = true;
    Gather(core, state, OpenOf(core, state, {access.Place(), OpOf(access)}, writes ? Use::Write : Use::Read, kS), rows);
  }

  // operator() returns a reference; most kernels that use it read, and what cannot be known is not reported.
  static bool Stores(const ScalarAccess& access) { return access.access == Access::Write; }

  static const char* OpOf(const ScalarAccess& access) {
    constexpr const char* kNames[] = {"GetValue", "SetValue", "operator()"};
    return kNames[static_cast<int>(access.access)];
  }

  // --- between blocks ---------------------------------------------------------------------------------------------------

  OpenRuns::Open& OpenOf(Core& core, RaceCore& state, const Site& site, Use use, uint32_t pipe) {
    return state.open.Of(sites_, site, use, static_cast<uint8_t>(pipe),
                         [&](const OpenRuns::Open& full) { FinishRun(core, state, full); });
  }
  GNT_ONCE void Gather(Core& core, RaceCore& state, OpenRuns::Open& open, const RowSet& rows) {
    SharedRun& run = open.run;
    if (run.rows.count == 0 || !run.rows.Absorb(rows)) {
      if (run.rows.count != 0) FinishRun(core, state, open);
      run.rows = rows;
    }
    run.window = state.clocks.Now(run.pipe);
  }

  GNT_COLD void FinishRun(Core& core, RaceCore& state, const OpenRuns::Open& open) {
    between_.Enter(core.block, Collision{core, sites_});
    SharedRun run = open.run;
    run.block = core.block;
    run.stretch = between_.order.Now(core.block);
    run.late = state.flag_sent;
    between_.Add(run);
    if (run.pipe == kS && (run.use != Use::Read || !auto_sync_))
      state.global.Add(LaneOf(kS, run.use != Use::Read), StampOf(run.window, run.site), false, run.rows);
  }
  GNT_ONCE void FinishRuns(Core& core, RaceCore& state) {
    state.open.FinishAll([&](const OpenRuns::Open& open) { FinishRun(core, state, open); });
    state.stores_open = false;
  }

  // Stamps have room for two million windows of a block; a block with more starts over, as after a barrier.
  static void Bound(RaceCore& state) {
    if (state.clocks.Latest() < kLastWindow) [[likely]]
      return;
    state.clocks.Restart();
    state.sent = Clock{};
    state.local.Restart();
    state.global.Restart();
  }

  bool auto_sync_;
  Sites sites_;
  BlocksShadow between_;
  RaceCore** cores_;  // by block, while it runs
  uint32_t blocks_;
  RaceCore* idle_ = nullptr;
};

}  // namespace gn_twin
