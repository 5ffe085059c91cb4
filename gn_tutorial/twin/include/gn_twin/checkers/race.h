// The race checker: it reports two accesses to the same bytes, at least one of them a write, that no flag or barrier
// puts in order.
//
// It checks the pipes of a core against each other, on the Unified Buffer and on global memory, and the blocks of a
// launch against each other on global memory. With TwinOptions(auto_sync="on") the compiler orders vector instructions
// among themselves. It also orders three scalar accesses with all pipes: GetValue, SetValue of local tensors, and
// operator(). It does not order SetValue of a global tensor.
// Source: docs/zh/api, 同步控制/核内同步/关键特性说明 (what is automatic), PipeBarrier (copies with overlapping destinations).
#pragma once
#include "gn_twin/checkers/global_memory.h"
#include "gn_twin/checkers/memory.h"
#include "gn_twin/checkers/race_global.h"
#include "gn_twin/checkers/race_report.h"
#include "gn_twin/checkers/race_scalar.h"
#include "gn_twin/events/footprint.h"

namespace gn_twin {

class RaceChecker final : public Observer {
 public:
  RaceChecker(const GntJob& job, const MemoryChecker& memory, const GlobalMemoryChecker& stored)
      : memory_(memory),
        stored_(stored),
        auto_sync_(job.options.auto_sync == 0),
        global_(job.blocks > 0 ? job.blocks : 1, auto_sync_, sites_),
        scalars_(auto_sync_, sites_, global_),
        cores_(new RaceState*[job.blocks > 0 ? job.blocks : 1]()),
        blocks_(job.blocks) {}
  ~RaceChecker() override {
    for (uint32_t i = 0; i < blocks_; ++i) delete cores_[i];
    while (idle_ != nullptr) {
      RaceState* const next = idle_->next;
      delete idle_;
      idle_ = next;
    }
    delete[] cores_;
  }
  RaceChecker(const RaceChecker&) = delete;
  RaceChecker& operator=(const RaceChecker&) = delete;

  void OnBlockBegin(Core& core) override {
    RaceState*& state = cores_[core.block];
    state = idle_ != nullptr ? idle_ : new RaceState(auto_sync_);
    if (!state->local.Ready()) StopForMemory();
    idle_ = state->next;
    state->next = nullptr;
    state->Begin();
  }
  void OnBlockEnd(Core& core) override {
    RaceState* const state = cores_[core.block];
    global_.FinishRuns(core, *state);
    cores_[core.block] = nullptr;
    state->next = idle_;
    idle_ = state;
  }
  void OnLaunchEnd(Core& core) override { global_.between.Sweep(global_.Report(core)); }

  Kinds Wants() const override {
    return KindsOf(Kind::Vector, Kind::Copy, Kind::Words, Kind::SetFlag, Kind::WaitFlag, Kind::Barrier, Kind::CrossFlag,
                   Kind::SyncAll, Kind::Release, Kind::Acquire);
  }
  void OnEvent(Core& core, const Event& event) override {
    RaceState& state = *cores_[core.block];
    if (event.kind != Kind::Vector || event.pipe != Pipe::V || !auto_sync_) ++state.epoch;
    switch (event.kind) {
      case Kind::Vector:
      case Kind::Copy: return OnInstruction(core, state, event);
      case Kind::Words: return OnCounters(core, state, event);
      case Kind::SetFlag:
      case Kind::WaitFlag:
        return Flag(core, state, event.kind, event.hard_event, static_cast<uint32_t>(event.event_id));
      case Kind::Barrier:
        if (state.stores_open) global_.FinishRuns(core, state);
        state.clocks.Barrier(event.pipe);
        return Bound(state);
      case Kind::CrossFlag:
        global_.FinishRuns(core, state);
        if (event.pipe != Pipe::All) {
          state.clocks.Issue(IndexOf(event.pipe));
          const Clock covered = state.clocks.Release(IndexOf(event.pipe));
          global_.between.Cover(core.block, covered);
          state.sent.Join(covered);
        }
        state.flag_sent = true;
        return Bound(state);
      case Kind::SyncAll:
        global_.FinishRuns(core, state);
        state.clocks.Wait(kS, state.sent);
        state.flag_sent = false;
        state.sent = Clock{};
        return global_.between.SyncAll(core.block);
      case Kind::Release:
        global_.took_turns = true;
        global_.FinishRuns(core, state);
        return global_.between.order.Release(core.block, event.operand[0].at);
      case Kind::Acquire:
        if (event.operand[0].bytes != 0) global_.NotePolling(event.loc);
        global_.took_turns = true;
        global_.FinishRuns(core, state);
        return global_.between.order.Acquire(core.block, event.operand[0].at);
      default: return;
    }
  }

  // Handles a flag that comes as a fast event, without an Event.
  void OnFlag(Core& core, RaceState& state, Kind kind, HardEvent event, uint32_t id) {
    ++state.epoch;
    Flag(core, state, kind, event, id);
  }

  // Whether a fast copy that reads or writes the range in the Unified Buffer is in order with all accesses there. Sets
  // `seen` to the work that the copy's pipe has seen of the other pipes.
  static bool CanCopy(RaceState& state, Pipe pipe, LocalRange range, LaneStamps& seen) {
    ++state.epoch;
    const uint32_t unseen = state.Issue(IndexOf(pipe), seen);
    return unseen == 0 || state.FindLocal(IndexOf(pipe), pipe == Pipe::MTE2, unseen, seen, range).stamp == 0;
  }
  // Handles a fast copy from or to these rows of global memory.
  void OnCopy(Core& core, RaceState& state, const FastCopy& copy, LocalRange range, const RowSet& rows,
              const LaneStamps& seen) {
    const uint32_t pipe = IndexOf(copy.pipe);
    const bool in = copy.pipe == Pipe::MTE2;
    const Site site{copy.loc, copy.op};
    global_.Check(core, state, pipe, !in, false, rows, site, seen);
    const Stamp stamp =
        !in && stored_.StoredAgain()
            ? global_.MarkAgain(core, state, site, pipe, rows, core.ub + copy.local, copy.row_bytes, copy.element_bytes)
            : global_.Mark(core, state, site, pipe, in ? Use::Read : Use::Write, rows);
    state.local.Mark(LaneOf(pipe, in), stamp, range);
  }

  RaceState* StateOf(const Core& core) const { return cores_[core.block]; }
  // Checks a repeated call. If the pipes have seen nothing new of each other since the last check, there is nothing to
  // do, because the marks would be the same. Returns false if the check needs the whole event: another pipe has worked
  // in the range of an operand whose runs are not rows.
  bool Recheck(Core& core, RaceState& state, CachedCall& call) {
    if (!auto_sync_) ++state.epoch;
    return call.epoch == state.epoch || RecheckOrder(core, state, call);
  }
  void Learn(const RaceState& state, CachedCall& call) {
    call.epoch = state.epoch;
    call.site = sites_.Number({call.key.file, call.key.line}, call.key.op);
  }

  void OnScalars(Core& core, const ScalarAccess* accesses, uint32_t count) override {
    scalars_.OnAccesses(core, *cores_[core.block], accesses, count);
  }
  void Quiet(Core& core, const ScalarAccess&, QuietBytes& quiet) override {
    if (!scalars_.Quiet(*cores_[core.block])) quiet = {};
  }

 private:
  void Flag(Core& core, RaceState& state, Kind kind, HardEvent event, uint32_t id) {
    if (kind == Kind::WaitFlag) return state.clocks.WaitFlag(event, id);
    if (state.stores_open && PipesOf(event).from == Pipe::S) global_.FinishRuns(core, state);
    state.clocks.SetFlag(event, id);
    Bound(state);
  }

  // Calls visit_rows(rows) if the operand's bytes are rows at a constant pitch, else visit_run(range) for each run.
  template <class VisitRows, class VisitRun>
  static void ForRows(const Core& core, const Event& event, const Operand& operand, VisitRows visit_rows,
                      VisitRun visit_run) {
    StridedRange rows;
    if (AsStridedRange(event, operand, static_cast<uint32_t>(core.UbOffset(operand.at)), rows) &&
        rows.range.end <= kUbBytes)
      return visit_rows(rows);
    ForBytes(event, operand, [&](const uint8_t* at, uint64_t bytes) { visit_run(RangeOf(core, at, bytes)); });
  }
  static LocalRange RangeOf(const Core& core, const Operand& operand) {
    return RangeOf(core, operand.at, operand.bytes);
  }
  static LocalRange RangeOf(const Core& core, const uint8_t* at, uint64_t bytes) {
    const uint64_t begin = core.UbOffset(at);
    const uint64_t end = begin + bytes < kUbBytes ? begin + bytes : kUbBytes;
    return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  // Reports, for each part of `range` that `pipe` touches, an access to that part that `pipe` has not seen, if there is
  // one. each(visit) calls visit(part) for every part. `each` is called only if `range` has an unseen access, which is
  // rare.
  template <class Each>
  void Look(Core& core, const RaceState& state, const Site& site, uint32_t pipe, bool writes, uint32_t unseen,
            const LaneStamps& seen, LocalRange range, Each each) {
    if (state.FindLocal(pipe, writes, unseen, seen, range).stamp == 0) [[likely]]
      return;
    each([&](LocalRange touched) {
      const Earlier hit = state.FindLocal(pipe, writes, unseen, seen, touched);
      if (hit.stamp != 0)
        ReportLocal(core, sites_, site, static_cast<Pipe>(pipe), writes, hit, memory_.LastOverwritten(core));
    });
  }

  // Checks a repeated call anew, after a pipe has seen something new; returns what Recheck returns.
  GNT_NOINLINE bool RecheckOrder(Core& core, RaceState& state, CachedCall& call) {
    const Site site{{call.key.file, call.key.line}, call.key.op};
    if (const uint32_t unseen = state.UnseenByVector(); unseen != 0) {
      const auto look = [&](const auto& touched, bool writes) {
        Look(core, state, site, kV, writes, unseen, state.vector.seen, touched.range,
             [&](auto visit) { touched.ForEach(visit); });
      };
      for (uint32_t i = 0; i < call.parts; ++i) {
        const CachedCall::Part& part = call.part[i];
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
      const CachedCall::Part& part = call.part[i];
      UbAccesses::ForLanesOf(kV, part.access, [&](uint32_t lane) {
        if (part.touches != Touches::Runs) return state.local.Mark(lane, stamp, call.rows[i]);
        state.local.MarkMasked(lane, stamp, part.range, part.masks);
      });
    }
    if (call.Gathers()) state.local.MarkPieces(LaneOf(kV, false), stamp, call.pieces, state.Settled(kV));
    call.epoch = state.epoch;
    return true;
  }

  GNT_NOINLINE void OnInstruction(Core& core, RaceState& state, const Event& event) {
    const uint32_t pipe = IndexOf(event.pipe);
    if (pipe >= kPipes) return;
    if (state.stores_open && event.kind == Kind::Copy) global_.FinishRuns(core, state);
    uint32_t unseen = 0;
    LaneStamps seen;
    if (pipe == kV) {
      unseen = state.UnseenByVector();
      seen = state.vector.seen;
    } else {
      unseen = state.Issue(pipe, seen);
    }
    for (uint32_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.bytes == 0) continue;
      const bool writes = operand.access != Access::Read;
      if (operand.space == Space::GM) {
        global_.Check(core, state, pipe, writes, core.atomic != 0, RowSet::Of(operand), {event.loc, event.op}, seen);
        continue;
      }
      if (unseen == 0) continue;
      Look(core, state, {event.loc, event.op}, pipe, writes, unseen, seen, RangeOf(core, operand), [&](auto visit) {
        ForRows(core, event, operand, [&](const StridedRange& rows) { rows.ForEach(visit); }, visit);
      });
    }
    const uint32_t site = sites_.Number(event.loc, event.op);
    const Stamp stamp = StampOf(state.clocks.Now(pipe), site);
    for (uint32_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.bytes == 0) continue;
      if (operand.space == Space::GM) {
        const Use use = operand.access == Access::Read ? Use::Read : core.atomic != 0 ? Use::Atomic : Use::Write;
        const Operand& source = event.operand[i + 1 < event.operands ? i + 1 : i];
        if (use == Use::Write && stored_.StoredAgain() && source.space == Space::UB && event.lanes != 0 &&
            __builtin_strncmp(event.op, "DataCopy", 8) == 0) {
          const RowSet rows = RowSet::Of(operand);
          if (rows.count == operand.rows || source.row_pitch == source.row_bytes) {
            global_.MarkAgain(core, state, {event.loc, event.op}, pipe, rows, source.at, source.row_pitch,
                              operand.element_bytes);
            continue;
          }
        }
        global_.Mark(core, state, {event.loc, event.op}, pipe, use, RowSet::Of(operand));
        continue;
      }
      if (operand.pieces != nullptr && operand.row_bytes <= kBlockBytes && operand.access != Access::ReadWrite) {
        const uint32_t bytes = static_cast<uint32_t>(operand.row_bytes);
        state.local.MarkPieces(LaneOf(pipe, operand.access == Access::Write), stamp,
                               {RangeOf(core, operand), operand.pieces, operand.rows, bytes}, state.Settled(pipe));
        continue;
      }
      UbAccesses::ForLanesOf(pipe, operand.access, [&](uint32_t lane) {
        ForRows(
            core, event, operand, [&](const StridedRange& rows) { state.local.Mark(lane, stamp, rows); },
            [&](LocalRange run) { state.local.MarkRun(lane, stamp, run); });
      });
    }
  }

  // Records accesses to counters for the other blocks. Within the core they need no check, because the operation waits
  // for all pipes before and after them.
  GNT_COLD void OnCounters(Core& core, RaceState& state, const Event& event) {
    for (uint8_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.space != Space::GM || operand.bytes == 0) continue;
      const Use use = operand.access == Access::Read ? Use::Awaits : Use::Counts;
      global_.Gather(core, state, {event.loc, event.op}, IndexOf(event.pipe), use, RowSet::Of(operand));
    }
  }

  // Restarts the clocks of a block when its window numbers (shadow/vector_clock.h) run out, as if there were a barrier.
  // A stamp has room for two million windows.
  static void Bound(RaceState& state) {
    if (state.clocks.Latest() < kLastWindow) [[likely]]
      return;
    state.clocks.Restart();
    state.sent = Clock{};
    state.local.Restart();
    state.global.Restart();
  }

  const MemoryChecker& memory_;
  const GlobalMemoryChecker& stored_;
  bool auto_sync_;
  Sites sites_;
  RaceGlobal global_;
  RaceScalars scalars_;
  RaceState** cores_;  // the state of each block while it runs
  uint32_t blocks_;
  RaceState* idle_ = nullptr;
};

}  // namespace gn_twin
