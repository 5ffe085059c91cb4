// The checker of padding: it reports lanes that DataCopyPad filled if they change the sum or the extreme of the loaded
// elements.
//
// DataCopyPad fills the rest of a row's last block of 32 bytes: with a given value, or with the row's first element
// (docs/zh/api, DataCopyPad). Instructions on whole tiles compute those lanes too, which is usual and harmless until a
// reduction reads them. So the checker follows padding lane by lane. In a reduction it checks whether the padding
// matters: a 0 changes no sum, and a value that is not the largest changes no maximum.
#pragma once
#include <new>

#include "gn_twin/checkers/padding_calls.h"
#include "gn_twin/events/footprint.h"
#include "gn_twin/shadow/padding_state.h"
#include "gn_twin/shadow/per_core.h"

namespace gn_twin {

class PaddingChecker final : public Observer {
 public:
  PaddingChecker() = default;
  ~PaddingChecker() override { delete[] marks_; }
  PaddingChecker(const PaddingChecker&) = delete;
  PaddingChecker& operator=(const PaddingChecker&) = delete;

  void OnBlockBegin(Core& core) override { states_.Begin(core); }
  void OnBlockEnd(Core& core) override { states_.End(core); }

  Kinds Wants() const override {
    return KindsOf(Kind::Vector, Kind::Copy, Kind::Padding, Kind::InitBuffer, Kind::Alloc);
  }
  void OnEvent(Core& core, const Event& event) override {
    PaddingState* const state = states_.Of(core);
    if (state == nullptr) return;
    if (event.kind == Kind::Padding) return Fill(core, *state, event);
    if (!state->Any()) return;
    if (event.kind == Kind::Vector && Reads(core, *state, event)) {
      if (event.flow == Flow::Fold) CheckFold(core, *state, event);
      if (IsLaneByLane(event.flow)) return Carry(core, *state, event);
    }
    for (uint8_t i = 0; i < event.operands; ++i)
      if (event.operand[i].access != Access::Read) ClearOperand(core, *state, event, event.operand[i]);
    if (event.kind == Kind::InitBuffer || event.kind == Kind::Alloc) {
      const uint64_t at = core.UbOffset(event.operand[0].at);
      state->Clear(at, at + event.operand[0].bytes);
    }
  }
  void OnScalars(Core& core, const ScalarAccess* accesses, uint32_t count) override {
    PaddingState* const state = states_.Of(core);
    if (state == nullptr || !state->Any()) return;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t at = core.UbOffset(accesses[i].at);
      if (accesses[i].access != Access::Read && at < kUbBytes) state->Clear(at, at + accesses[i].bytes);
    }
  }
  void OnStores(Core& core, const ScalarAccess& first, const uint8_t* end) override {
    PaddingState* const state = states_.Of(core);
    if (state != nullptr) state->Clear(core.UbOffset(first.at), core.UbOffset(end));
  }

  PaddingState* StateOf(const Core& core) const { return states_.Of(core); }

 private:
  static constexpr uint32_t kMostLanes = kUbBytes / 2;

  template <class Visit>
  static void ForUb(const Core& core, const Event& event, const Operand& operand, Visit visit) {
    if (operand.space != Space::UB || operand.bytes == 0) return;
    ForRuns(event, operand, [&](const uint8_t* run, uint64_t bytes) {
      const uint64_t at = core.UbOffset(run);
      if (at + bytes <= kUbBytes) visit(at, bytes);
    });
  }
  static void Fill(Core& core, PaddingState& state, const Event& event) {
    const uint8_t origin = state.Remember(event.loc);
    for (uint8_t i = 0; i < event.operands; ++i)
      ForUb(core, event, event.operand[i], [&](uint64_t at, uint64_t bytes) { state.Set(at, at + bytes, origin); });
  }
  static void ClearOperand(Core& core, PaddingState& state, const Event& event, const Operand& operand) {
    ForUb(core, event, operand, [&](uint64_t at, uint64_t bytes) { state.Clear(at, at + bytes); });
  }
  static bool Reads(const Core& core, const PaddingState& state, const Event& event) {
    for (uint8_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.access != Access::Read || operand.space != Space::UB || operand.bytes == 0) continue;
      const uint64_t at = core.UbOffset(operand.at);
      if (at + operand.bytes <= kUbBytes && state.TouchesBytes(at, at + operand.bytes)) return true;
    }
    return false;
  }

  // Calls visit(lane, byte) for the lanes of the operand that are padding; returns the number of all lanes.
  template <class Visit>
  static uint32_t ForPadding(const Core& core, const PaddingState& state, const Event& event, const Operand& operand,
                             Visit visit) {
    uint32_t lane = 0;
    ForUb(core, event, operand, [&](uint64_t at, uint64_t bytes) {
      const uint32_t size = operand.element_bytes;
      for (uint64_t done = 0; done < bytes && state.TouchesBytes(at, at + bytes);) {
        const uint64_t stop = (at + done) / kBlockBytes * kBlockBytes + kBlockBytes - at;
        const uint64_t end = stop < bytes ? stop : bytes;
        if (state.TouchesBytes(at + done, at + end))
          for (uint64_t i = done; i + size <= end; i += size)
            if (state.Has(at + i)) visit(lane + static_cast<uint32_t>(i / size), at + i);
        done = end;
      }
      lane += static_cast<uint32_t>(bytes / size);
    });
    return lane;
  }
  // Reports a reduction that reads padding, if the padding changes its result. For an extreme, compares the lanes of
  // each repeat or row with each other if every repeat or row has its own result, and otherwise all lanes.
  GNT_COLD static void CheckFold(Core& core, const PaddingState& state, const Event& event) {
    const PaddingKind kind(event.op, true);
    const bool sum = kind.sum, most = kind.most;
    if (!kind.Any()) return;
    const Operand* source = nullptr;
    for (uint8_t i = 0; i < event.operands; ++i)
      if (event.operand[i].access == Access::Read && source == nullptr) source = &event.operand[i];
    if (source == nullptr || (source->element_bytes != 2 && source->element_bytes != 4)) return;
    uint32_t lanes = 0, first = 0;
    bool found = false;
    uint64_t first_at = 0;
    const auto take = [&](uint32_t lane, uint64_t at) {
      if (!found) first = lane, first_at = at;
      found = true;
    };
    if (sum) {
      ForPadding(core, state, event, *source, [&](uint32_t lane, uint64_t at) {
        if (PaddedValue(core, at, source->element_bytes) != 0.0f) take(lane, at);
      });
    } else {
      const uint32_t rows = event.operand[0].rows > 1 ? event.operand[0].rows : 1;
      ForUb(core, event, *source, [&](uint64_t, uint64_t bytes) { lanes += bytes / source->element_bytes; });
      const uint32_t active = event.active.per_repeat != 0 && event.active.prefix ? event.active.first : lanes / rows;
      CheckExtreme(core, state, event, *source, most, rows > 1 && active != 0 ? active : lanes, take);
    }
    if (!found) return;
    const Loc copy = state.CopyOf(state.OriginOf(first_at));
    core.Warn("padding-reduced", event.loc, copy,
              {{"op", event.op},
               {"role", source->role},
               {"first", first},
               {"result", sum    ? "sum"
                          : most ? "maximum"
                                 : "minimum"},
               {"neutral", sum    ? "0"
                           : most ? "the smallest number"
                                  : "the largest number"},
               {"other_file", copy.file},
               {"other_line", copy.line}});
  }
  // Calls take(lane, byte) once for each group of lanes whose largest padding is larger than all its loaded elements
  // (for a minimum: whose smallest is smaller). A group without loaded elements is skipped.
  template <class Take>
  static void CheckExtreme(const Core& core, const PaddingState& state, const Event& event, const Operand& source,
                           bool most, uint32_t group, Take take) {
    uint32_t lane = 0, pads = 0, pad_lane = 0;
    uint64_t pad_at = 0;
    float best = 0.0f, worst = 0.0f;
    bool loaded = false;
    const auto finish = [&] {
      if (pads != 0 && loaded && (most ? worst > best : worst < best)) take(pad_lane, pad_at);
      pads = 0;
      loaded = false;
    };
    ForUb(core, event, source, [&](uint64_t at, uint64_t bytes) {
      for (uint64_t done = 0; done < bytes; done += source.element_bytes, ++lane) {
        if (lane != 0 && lane % group == 0) finish();
        const float value = PaddedValue(core, at + done, source.element_bytes);
        const auto beyond = [&](float other) { return most ? value > other : value < other; };
        if (!state.Has(at + done)) {
          if (!loaded || beyond(best)) best = value;
          loaded = true;
        } else if (pads++ == 0 || beyond(worst)) {
          worst = value;
          pad_lane = lane;
          pad_at = at + done;
        }
      }
    });
    finish();
  }

  // Marks the results of a lane-by-lane instruction as padding where its sources are padding, unless the padding leaves
  // a loaded value unchanged.
  GNT_COLD void Carry(Core& core, PaddingState& state, const Event& event) {
    if (marks_ == nullptr) marks_ = new (std::nothrow) Mark[kMostLanes]();
    const Operand* dst = nullptr;
    uint8_t sources = 0;
    uint32_t end = 0, origin = 0;
    for (uint8_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.access == Access::Write) dst = &operand;
      if (operand.access != Access::Read || operand.space != Space::UB || marks_ == nullptr) continue;
      ++sources;
      ForPadding(core, state, event, operand, [&](uint32_t lane, uint64_t at) {
        if (lane >= kMostLanes) return;
        origin = state.OriginOf(at);
        ++marks_[lane].sources;
        if (Absorbed(core, event, operand, i, at, lane)) marks_[lane].absorbed = true;
        end = lane + 1 > end ? lane + 1 : end;
      });
    }
    for (uint8_t i = 0; i < event.operands; ++i)
      if (event.operand[i].access != Access::Read) ClearOperand(core, state, event, event.operand[i]);
    if (end == 0) return;
    if (dst != nullptr) {
      uint32_t lane = 0;
      ForUb(core, event, *dst, [&](uint64_t at, uint64_t bytes) {
        const uint32_t here = static_cast<uint32_t>(bytes / dst->element_bytes);
        for (uint32_t i = 0; i < here && lane + i < end; ++i) {
          const Mark& mark = marks_[lane + i];
          const uint64_t to = at + uint64_t{i} * dst->element_bytes;
          if (mark.sources != 0 && (mark.sources >= sources || !mark.absorbed))
            state.Set(to, to + dst->element_bytes, static_cast<uint8_t>(origin));
        }
        lane += here;
      });
    }
    __builtin_memset(marks_, 0, end * sizeof(Mark));
  }
  // Whether the padding at byte `at` of a source leaves the other source's value unchanged. For example, this holds for
  // an added 0, and for the smaller value in a Max. A 0 from which a value is subtracted counts too.
  static bool Absorbed(const Core& core, const Event& event, const Operand& source, uint8_t index, uint64_t at,
                       uint32_t lane) {
    if (source.element_bytes != 2 && source.element_bytes != 4) return false;
    const float value = PaddedValue(core, at, source.element_bytes);
    const PaddingKind kind(event.op, false);
    if (kind.sum) return value == 0.0f;
    if (!kind.Any() || event.operands != 3) return false;
    const Operand& other = event.operand[3 - index];  // operand 0 is the destination
    uint64_t there = kUbBytes;
    uint32_t before = 0;
    ForUb(core, event, other, [&](uint64_t run, uint64_t bytes) {
      const uint32_t here = static_cast<uint32_t>(bytes / other.element_bytes);
      if (lane >= before && lane - before < here) there = run + uint64_t{lane - before} * other.element_bytes;
      before += here;
    });
    if (there + other.element_bytes > kUbBytes) return false;
    const float beside = PaddedValue(core, there, other.element_bytes);
    return kind.IsNeutral(value, beside);
  }

  // For one lane: the number of its sources that are padding, and whether one of them has no effect.
  struct Mark {
    uint8_t sources;
    bool absorbed;
  };
  PerCore<PaddingState> states_;
  Mark* marks_ = nullptr;
};

}  // namespace gn_twin
