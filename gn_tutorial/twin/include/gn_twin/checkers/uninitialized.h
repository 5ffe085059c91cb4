// Follows uninitialised values: a result that depends on a missing value of a source is uninitialised too.
#pragma once
#include <new>

#include "gn_twin/checkers/global_memory.h"
#include "gn_twin/checkers/memory_report.h"
#include "gn_twin/events/footprint.h"

namespace gn_twin {

// Calls visit(offset, bytes) for the runs of an operand that lie in the Unified Buffer.
template <class Visit>
[[gnu::always_inline]] inline void ForUbRuns(const Core& core, const Event& event, const Operand& operand,
                                             Visit visit) {
  if (operand.space != Space::UB) return;
  const uint64_t whole = OneRun(event, operand);
  if (whole != 0) [[likely]] {
    const uint64_t at = core.UbOffset(operand.at);
    if (at + whole <= kUbBytes) visit(at, whole);
    return;
  }
  ForRuns(event, operand, [&](const uint8_t* run, uint64_t bytes) {
    const uint64_t at = core.UbOffset(run);
    if (at + bytes <= kUbBytes) visit(at, bytes);
  });
}

class UninitializedResults {
 public:
  explicit UninitializedResults(GlobalMemoryChecker& stored) : stored_(stored) {}
  ~UninitializedResults() { delete[] lacking_; }
  UninitializedResults(const UninitializedResults&) = delete;
  UninitializedResults& operator=(const UninitializedResults&) = delete;

  // Finds missing values of the sources. If a copy stores them to global memory, reports them, unless they are a tail
  // that GlobalMemoryChecker::KeepTail keeps. Calls take_in() to mark all results as written, and then marks the
  // results that depend on a missing value as missing.
  template <class TakeIn>
  GNT_COLD void Follow(Core& core, UbState& shadow, const Event& event, TakeIn take_in) {
    Origin origin;
    const Operand* const dst = Find(core, shadow, event, origin);
    take_in();
    if (dst == nullptr) return;
    uint32_t lane = 0;
    ForUbRuns(core, event, *dst, [&](uint64_t at, uint64_t bytes) {
      for (uint64_t done = 0; done < bytes; done += dst->element_bytes, ++lane)
        if (lacking_[lane] != 0) shadow.bytes.Clear(at + done, dst->element_bytes);
    });
    if (origin.op[0] != '\0') shadow.Remember(origin, core.UbOffset(dst->at), dst->bytes);
  }

 private:
  // Sets lacking_ for the results and, if a result is missing, `origin` to the instruction that first read the missing
  // value. Returns the operand of the results; null if the results are not followed.
  const Operand* Find(Core& core, UbState& shadow, const Event& event, Origin& origin) {
    const Operand* dst = nullptr;
    uint32_t results = 0;
    for (uint8_t i = 0; i < event.operands; ++i) {
      const Operand& operand = event.operand[i];
      if (operand.access != Access::Write || operand.space != Space::UB) continue;
      dst = &operand;
      results = Elements(core, event, operand);
    }
    if (lacking_ == nullptr) lacking_ = new (std::nothrow) uint8_t[kMostLanes];
    if (lacking_ == nullptr || results > kMostLanes) dst = nullptr;
    if (dst != nullptr) __builtin_memset(lacking_, 0, results);
    for (uint8_t i = 0; i < event.operands; ++i) {
      const Operand& source = event.operand[i];
      if (source.access != Access::Read) continue;
      uint64_t missing = kUbBytes;
      ForUbRuns(core, event, source, [&](uint64_t at, uint64_t bytes) {
        const uint64_t found = shadow.bytes.FirstMissing(at, bytes);
        if (missing == kUbBytes && found < at + bytes) missing = found;
      });
      if (missing == kUbBytes) continue;
      const uint64_t begin = source.pieces == nullptr ? core.UbOffset(source.at) : 0;
      const uint64_t end = source.pieces == nullptr ? begin + source.bytes : 0;
      const uint8_t bytes = source.element_bytes;
      if (event.kind == Kind::Copy) {
        Origin copied = shadow.OriginOf(missing, event.loc, event.op, source.role, begin, end, bytes);
        if (copied.op == event.op && copied.loc.line == event.loc.line) copied.extent = ExtentOf(event, source);
        const MissingValue value = MissingAt(core, shadow, copied, event.loc);
        const uint64_t tail = TailMissing(core, shadow, event, source);
        if (tail == 0 || !stored_.KeepTail(core, event, tail, value)) ReportMissing(core, value);
        ForUbRuns(core, event, source, [&](uint64_t at, uint64_t bytes) { shadow.bytes.Set(at, bytes); });
      } else if (dst != nullptr &&
                 (event.flow != Flow::Moves || IsElementwise(source) || LacksAll(core, shadow, event, source))) {
        MarkLacking(core, shadow, event, source, *dst, results);
        origin = shadow.OriginOf(missing, event.loc, event.op, source.role, begin, end, bytes);
        if (origin.loc.line == event.loc.line && origin.loc.file == event.loc.file)
          origin.extent = ExtentOf(event, source);
      }
    }
    return dst;
  }

  // Returns the number of bytes that a DataCopy's source lacks, if they are the end of its last 32-byte block because a
  // length was rounded up; else 0.
  static uint64_t TailMissing(const Core& core, const UbState& shadow, const Event& event, const Operand& source) {
    if (__builtin_strcmp(event.op, "DataCopy") != 0) return 0;  // DataCopyPad takes any length
    uint64_t tail = 0;
    uint32_t runs = 0;
    ForUbRuns(core, event, source, [&](uint64_t at, uint64_t bytes) {
      ++runs;
      const uint64_t found = shadow.bytes.FirstMissing(at, bytes);
      const uint64_t lacking = at + bytes - found;
      bool rounded = found % kBlockBytes != 0 && lacking < kBlockBytes;
      for (uint64_t i = found; rounded && i < found + lacking; ++i) rounded = !shadow.bytes.HasAll(i, 1);
      tail = rounded ? lacking : 0;
    });
    return runs == 1 ? tail : 0;
  }

  // Whether the instruction has one result for each piece of the source, in the order of the pieces, as Gather has.
  static bool IsElementwise(const Operand& source) {
    return source.pieces != nullptr && source.row_bytes == source.element_bytes;
  }

  // Whether a source has no value at all. For an instruction that moves elements, the twin does not know which result
  // comes from which element. So its results count as missing only if the source has no value at all.
  static bool LacksAll(const Core& core, const UbState& shadow, const Event& event, const Operand& source) {
    bool none = true;
    ForUbRuns(core, event, source,
              [&](uint64_t at, uint64_t bytes) { none = none && shadow.bytes.HasNone(at, bytes); });
    return none;
  }

  // Sets lacking_ for the results that depend on a missing value of `source`.
  void MarkLacking(const Core& core, const UbState& shadow, const Event& event, const Operand& source,
                   const Operand& dst, uint32_t results) {
    const uint32_t lanes = Elements(core, event, source);
    const bool lane_by_lane = (IsLaneByLane(event.flow) || IsElementwise(source)) && lanes == results;
    const uint32_t rows = event.flow == Flow::Fold && dst.rows > 1 && results % dst.rows == 0 ? dst.rows : 1;
    const uint32_t row_results = results / rows;
    const uint32_t row_lanes = event.active.per_repeat != 0 && event.active.prefix ? event.active.first : lanes / rows;
    uint32_t lane = 0;
    ForUbRuns(core, event, source, [&](uint64_t at, uint64_t bytes) {
      for (uint64_t done = 0; done < bytes; done += source.element_bytes, ++lane) {
        if (shadow.bytes.HasAll(at + done, source.element_bytes)) continue;
        if (lane_by_lane) {
          lacking_[lane] = 1;
        } else if (rows > 1 && row_lanes != 0 && lane / row_lanes < rows) {
          __builtin_memset(lacking_ + lane / row_lanes * row_results, 1, row_results);
        } else {
          __builtin_memset(lacking_, 1, results);
        }
      }
    });
  }

  static uint32_t Elements(const Core& core, const Event& event, const Operand& operand) {
    uint64_t bytes = 0;
    ForUbRuns(core, event, operand, [&](uint64_t, uint64_t run) { bytes += run; });
    return static_cast<uint32_t>(bytes / operand.element_bytes);
  }

  static constexpr uint32_t kMostLanes = kUbBytes;

  GlobalMemoryChecker& stored_;
  uint8_t* lacking_ = nullptr;  // one per result: 1 if it depends on a value that nobody wrote
};

}  // namespace gn_twin
