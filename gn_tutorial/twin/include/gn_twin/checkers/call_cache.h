// Who is told of the vector instructions that come again, of flags, copies and handed-out buffers, and what.
#pragma once
#include "gn_twin/checkers/data_cache.h"
#include "gn_twin/checkers/global_memory.h"
#include "gn_twin/checkers/memory.h"
#include "gn_twin/checkers/race.h"
#include "gn_twin/events/footprint.h"
#include "gn_twin/events/cached_call.h"

namespace gn_twin {

// Who learns something of them. race: null where races are not looked for.
struct CallCheckers {
  CheckMemory& memory;
  CheckGlobal& global;
  CheckCache& cache;
  CheckRace* race;
  GntTally& tally;
  uint32_t numbers = 0;  // of the calls of the launch so far
};

// The known calls of one core, with what the checkers remember of it.
class CallsOfCore final : public KnownCalls {
 public:
  bool Allocate() { return true; }
  void Restart() { Forget(); }
  void Serve(CallCheckers& checkers, UbShadow& memory, RaceCore* order) {
    checkers_ = &checkers;
    memory_ = &memory;
    order_ = order;
  }

  bool Again(Core& core, KnownCall& call) override {
    if (call.Gathers() && !call.pieces.SameOffsets(reinterpret_cast<const uint32_t*>(call.key.at[1]))) [[unlikely]]
      return false;
    if (!CheckMemory::Again(core, *memory_, call)) return false;
    if (order_ != nullptr && !checkers_->race->Again(core, *order_, call)) [[unlikely]]
      return false;
    ++checkers_->tally.instructions[static_cast<int>(Pipe::V)];
    return true;
  }

  void Flag(Core& core, Kind kind, AscendC::HardEvent event, uint32_t id) override {
    if (order_ != nullptr) checkers_->race->OnFlag(core, *order_, kind, event, id);
  }

  bool Copy(Core& core, const ShortCopy& copy) override {
    if (checkers_->cache.HasLines()) return false;  // the scalar unit has been at global memory too
    const bool in = copy.pipe == Pipe::MTE2;
    const LocalRange range{copy.local, copy.local + copy.local_bytes};
    const BlockSpan blocks = BlockSpan::OfBytes(range.begin, range.end);
    if (!in && !CheckMemory::HasSource(*memory_, range, blocks)) return false;
    LaneStamps seen;
    if (order_ != nullptr && !CheckRace::CanCopy(*order_, copy.pipe, range, seen)) return false;
    if (in) CheckMemory::Load(core, *memory_, blocks, range, copy.loc, copy.op);
    const RowSet rows = RowSet::Of(reinterpret_cast<uintptr_t>(copy.global), copy.row_bytes, copy.row_pitch, copy.rows);
    checkers_->global.OnCopy(core, rows, in ? Access::Read : Access::Write, copy.loc, copy.op, copy.element_bytes);
    if (order_ != nullptr) checkers_->race->OnCopy(core, *order_, copy, range, rows, seen);
    ++checkers_->tally.instructions[static_cast<int>(copy.pipe)];
    (in ? checkers_->tally.bytes_in : checkers_->tally.bytes_out) += copy.rows * copy.row_bytes;
    return true;
  }

  void HandOver(Core&, Kind kind, uint32_t begin, uint32_t end) override {
    CheckMemory::OnBuffer(*memory_, kind, begin, end);
  }

  bool Learn(Core& core, const Event& event, KnownCall& call) override {
    call.parts = event.operands;
    call.scratch = call.gaps = false;
    call.pieces = {};
    call.role = event.operand[0].role;
    for (uint32_t i = 0; i < call.parts; ++i) {
      const Operand& operand = event.operand[i];
      if ((operand.access == Access::Write) != (i == 0)) return false;
      const uint64_t begin = core.UbOffset(operand.at);
      if (operand.bytes == 0 || operand.bytes > kUbBytes || begin > kUbBytes - operand.bytes) return false;
      if (operand.pieces != nullptr) {
        if (!LearnPieces(event, operand, i, static_cast<uint32_t>(begin), call)) return false;
        continue;
      }
      KnownCall::Part& part = call.part[i];
      part.access = operand.access;
      if (!LearnBytes(event, operand, static_cast<uint32_t>(begin), part, call.rows[i])) return false;
      const bool whole = part.touches == Touches::Whole;
      if (!whole && operand.access == Access::ReadWrite) return false;
      call.gaps = call.gaps || !whole;
      call.scratch = call.scratch || operand.access == Access::ReadWrite;
    }
    const KnownCall::Part& result = call.part[0];
    const bool whole =
        (result.range.begin | result.range.end) % kBlockBytes == 0 && OneRun(event, event.operand[0]) != 0;
    call.replaces = whole && call.parts > 1;
    call.fills = whole && call.parts == 1;
    call.number = ++checkers_->numbers;
    call.key.op = event.op;
    call.key.file = event.loc.file;
    call.key.line = event.loc.line;
    if (order_ != nullptr) checkers_->race->Learn(*order_, call);
    return true;
  }

 private:
  // Which bytes an operand from `begin` on touches.
  static bool LearnBytes(const Event& event, const Operand& operand, uint32_t begin, KnownCall::Part& part,
                         LocalRows& rows) {
    part.range = {begin, begin + static_cast<uint32_t>(operand.bytes)};
    part.touches = !AsRows(event, operand, begin, rows) ? Touches::Runs
                   : rows.HasGaps()                     ? Touches::Rows
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

  // The last operand is read at offsets that are in memory as it was told them. A few calls can have theirs kept.
  bool LearnPieces(const Event& event, const Operand& operand, uint32_t index, uint32_t begin, KnownCall& call) {
    if (index != 2 || event.operands != 3 || operand.row_bytes > kBlockBytes) return false;
    if (reinterpret_cast<const uint8_t*>(operand.pieces) != event.operand[1].at) return false;
    const uint32_t end = begin + static_cast<uint32_t>(operand.bytes);
    KeptPieces& kept = PlaceOfOffsets(call);
    if (!kept.Keep({{begin, end}, operand.pieces, operand.rows, static_cast<uint32_t>(operand.row_bytes)}))
      return false;
    call.part[index].range = {begin, end};
    call.pieces = kept.Get();
    call.parts = index;
    return true;
  }

  // The one that it has, or else another's, which is not known any more.
  KeptPieces& PlaceOfOffsets(KnownCall& call) {
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
    KeptPieces pieces;
    KnownCall* user = nullptr;
  } offsets_[kOffsets];
  uint32_t next_offsets_ = 0;
  CallCheckers* checkers_ = nullptr;
  UbShadow* memory_ = nullptr;
  RaceCore* order_ = nullptr;  // null where races are not looked for
};

// Gives each block its known calls. Told after the checkers, whose state of the block must be there.
class KeepCalls final : public Observer {
 public:
  explicit KeepCalls(const CallCheckers& checkers) : checkers_(checkers) {}

  Kinds Wants() const override { return 0; }
  void OnBlockBegin(Core& core) override {
    calls_.Begin(core);
    CallsOfCore* const calls = calls_.Of(core);
    UbShadow* const shadow = checkers_.memory.ShadowOf(core);
    if (calls == nullptr || shadow == nullptr) return;
    calls->Serve(checkers_, *shadow, checkers_.race != nullptr ? checkers_.race->StateOf(core) : nullptr);
    core.known = calls;
  }
  void OnBlockEnd(Core& core) override {
    core.known = nullptr;
    calls_.End(core);
  }

 private:
  CallCheckers checkers_;
  PerCore<CallsOfCore> calls_;
};

}  // namespace gn_twin
