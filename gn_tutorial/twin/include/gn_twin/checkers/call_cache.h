// The call cache of a core: the facts that checkers keep about a call, and their short checks when the call is
// repeated.
//
// The checkers have functions for calls, each checker those that it needs: Learn takes facts from the event of a call,
// Recheck checks the call when it is repeated, and CanCopy, OnCopy, OnFlag and OnBuffer handle fast events. This header
// calls the checkers in order.
#pragma once
#include "gn_twin/checkers/data_cache.h"
#include "gn_twin/checkers/global_memory.h"
#include "gn_twin/checkers/memory.h"
#include "gn_twin/checkers/padding.h"
#include "gn_twin/checkers/padding_calls.h"
#include "gn_twin/checkers/race.h"
#include "gn_twin/core/counters.h"
#include "gn_twin/events/cached_call.h"
#include "gn_twin/events/footprint.h"

namespace gn_twin {

// The checkers that handle repeated calls and fast events. race: null if the launch does not check for races.
struct CallCheckers {
  MemoryChecker& memory;
  PaddingChecker& padding;
  GlobalMemoryChecker& global;
  DataCacheChecker& cache;
  RaceChecker* race;
  Counters& counters;
  uint32_t numbers = 0;  // the last CachedCall::number that a call of the launch got
};

// The cached calls of one core.
class CoreCallCache final : public CachedCalls {
 public:
  bool Allocate() { return true; }
  void Restart() { Forget(); }
  void Serve(CallCheckers& checkers, UbState& memory, PaddingState& padding, RaceState* order) {
    checkers_ = &checkers;
    memory_ = &memory;
    padding_ = &padding;
    order_ = order;
  }

  bool Recheck(Core& core, CachedCall& call) override {
    if (call.Gathers() && !call.pieces.SameOffsets(reinterpret_cast<const uint32_t*>(call.key.at[1]))) [[unlikely]]
      return false;
    if (padding_->Any() && !PaddingCalls::Carry(core, *padding_, call)) [[unlikely]]
      return false;
    if (!MemoryChecker::Recheck(core, *memory_, call)) return false;
    if (order_ != nullptr && !checkers_->race->Recheck(core, *order_, call)) [[unlikely]]
      return false;
    checkers_->counters.OnInstructions(Pipe::V, 1);
    return true;
  }

  void OnFlag(Core& core, Kind kind, AscendC::HardEvent event, uint32_t id) override {
    if (order_ != nullptr) checkers_->race->OnFlag(core, *order_, kind, event, id);
  }

  bool OnCopy(Core& core, const FastCopy& copy) override {
    const LocalRange range{copy.local, copy.local + copy.local_bytes};
    const BlockSpan blocks = BlockSpan::OfBytes(range.begin, range.end);
    LaneStamps seen;
    if (!checkers_->cache.CanCopy() || !MemoryChecker::CanCopy(*memory_, copy, range, blocks)) return false;
    if (order_ != nullptr && !RaceChecker::CanCopy(*order_, copy.pipe, range, seen)) return false;
    MemoryChecker::OnCopy(core, *memory_, copy, range, blocks);
    if (copy.IsLoad()) padding_->Clear(range.begin, range.end);
    const RowSet rows = RowSet::Of(reinterpret_cast<uintptr_t>(copy.global), copy.row_bytes, copy.row_pitch, copy.rows);
    checkers_->global.OnCopy(core, rows, copy.IsLoad() ? Access::Read : Access::Write, copy.loc, copy.op,
                             copy.element_bytes);
    if (order_ != nullptr) checkers_->race->OnCopy(core, *order_, copy, range, rows, seen);
    checkers_->counters.OnCopy(copy);
    return true;
  }

  void OnBuffer(Core& core, Kind kind, uint32_t begin, uint32_t end) override {
    MemoryChecker::OnBuffer(core, *memory_, kind, begin, end);
    if (kind == Kind::Alloc) padding_->Clear(begin, end);
  }

  bool Learn(Core& core, const Event& event, CachedCall& call) override {
    call.parts = event.operands;
    call.scratch = call.gaps = false;
    call.pieces = {};
    call.role = event.operand[0].role;
    call.tensor = event.operand[0].tensor;
    call.flow = event.flow;
    for (uint32_t i = 0; i < call.parts; ++i) {
      const Operand& operand = event.operand[i];
      if ((operand.access == Access::Write) != (i == 0)) return false;
      const uint64_t begin = core.UbOffset(operand.at);
      if (operand.bytes == 0 || operand.bytes > kUbBytes || begin > kUbBytes - operand.bytes) return false;
      if (operand.pieces != nullptr) {
        if (!LearnPieces(event, operand, i, static_cast<uint32_t>(begin), call)) return false;
        continue;
      }
      CachedCall::Part& part = call.part[i];
      part.access = operand.access;
      part.element_bytes = operand.element_bytes;
      if (!LearnBytes(event, operand, static_cast<uint32_t>(begin), part, call.rows[i])) return false;
      const bool whole = part.touches == Touches::Whole;
      if (!whole && operand.access == Access::ReadWrite) return false;
      call.gaps = call.gaps || !whole;
      call.scratch = call.scratch || operand.access == Access::ReadWrite;
    }
    call.number = ++checkers_->numbers;
    call.key.op = event.op;
    call.key.file = event.loc.file;
    call.key.line = event.loc.line;
    MemoryChecker::Learn(event, call);
    if (order_ != nullptr) checkers_->race->Learn(*order_, call);
    return true;
  }

 private:
  // Notes the bytes that an operand touches; returns false if there is no memory for its masks. `begin`: the operand's
  // offset in the Unified Buffer.
  static bool LearnBytes(const Event& event, const Operand& operand, uint32_t begin, CachedCall::Part& part,
                         StridedRange& rows) {
    part.range = {begin, begin + static_cast<uint32_t>(operand.bytes)};
    part.touches = !AsStridedRange(event, operand, begin, rows) ? Touches::Runs
                   : rows.HasGaps()                             ? Touches::Rows
                                                                : Touches::Whole;
    part.blocks = BlockSpan::OfBytes(part.range.begin, part.range.end);
    if (part.touches == Touches::Whole) return true;
    bool kept = part.masks.Begin(part.range);
    ForBytes(event, operand, [&](const uint8_t* at, uint64_t bytes) {
      const uint32_t first = begin + static_cast<uint32_t>(at - operand.at);
      kept = kept && part.masks.Add({first, first + static_cast<uint32_t>(bytes)});
    });
    return kept;
  }

  // Keeps a copy of the offsets of a call whose last operand is gathered; returns false if it cannot. The operand
  // before the last one holds these offsets while the event is emitted. There is room for kOffsets calls only.
  bool LearnPieces(const Event& event, const Operand& operand, uint32_t index, uint32_t begin, CachedCall& call) {
    if (index != 2 || event.operands != 3 || operand.row_bytes > kBlockBytes) return false;
    if (reinterpret_cast<const uint8_t*>(operand.pieces) != event.operand[1].at) return false;
    const uint32_t end = begin + static_cast<uint32_t>(operand.bytes);
    OwnedGatherRanges& kept = PlaceOfOffsets(call);
    if (!kept.Keep({{begin, end}, operand.pieces, operand.rows, static_cast<uint32_t>(operand.row_bytes)}))
      return false;
    call.part[index].range = {begin, end};
    call.pieces = kept.Get();
    call.parts = index;
    return true;
  }

  // Returns the call's place for offsets. A call without one gets the place of another call, which leaves the cache.
  OwnedGatherRanges& PlaceOfOffsets(CachedCall& call) {
    for (Offsets& one : offsets_)
      if (one.user == &call) return one.pieces;
    Offsets& next = offsets_[next_offsets_];
    next_offsets_ = (next_offsets_ + 1) % kOffsets;
    if (next.user != nullptr && next.user->Gathers()) next.user->key = CallKey{};
    next.user = &call;
    return next.pieces;
  }

  static constexpr uint32_t kOffsets = 4;
  struct Offsets {
    OwnedGatherRanges pieces;
    CachedCall* user = nullptr;
  } offsets_[kOffsets];
  uint32_t next_offsets_ = 0;
  CallCheckers* checkers_ = nullptr;
  UbState* memory_ = nullptr;
  PaddingState* padding_ = nullptr;
  RaceState* order_ = nullptr;  // null if the launch does not check for races
};

// The observer that gives each block its call cache. It is added after the checkers, because it needs the state that
// they keep for the block.
class CallCache final : public Observer {
 public:
  explicit CallCache(const CallCheckers& checkers) : checkers_(checkers) {}

  Kinds Wants() const override { return 0; }
  void OnBlockBegin(Core& core) override {
    calls_.Begin(core);
    CoreCallCache* const calls = calls_.Of(core);
    UbState* const shadow = checkers_.memory.ShadowOf(core);
    PaddingState* const padding = checkers_.padding.StateOf(core);
    if (calls == nullptr || shadow == nullptr || padding == nullptr) return;
    calls->Serve(checkers_, *shadow, *padding, checkers_.race != nullptr ? checkers_.race->StateOf(core) : nullptr);
    core.cached = calls;
  }
  void OnBlockEnd(Core& core) override {
    core.cached = nullptr;
    calls_.End(core);
  }

 private:
  CallCheckers checkers_;
  PerCore<CoreCallCache> calls_;
};

}  // namespace gn_twin
