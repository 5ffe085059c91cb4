// Handles padding in cached calls by blocks of 32 bytes. In the usual cases this gives the results of
// checkers/padding.h, and reads only a few words of a bitmap.
#pragma once
#include "gn_twin/base/float16.h"
#include "gn_twin/core/core.h"
#include "gn_twin/events/cached_call.h"
#include "gn_twin/shadow/padding_state.h"

namespace gn_twin {

// Which values of padding have no effect on the result of an instruction. This follows from the instruction's name.
struct PaddingKind {
  bool sum;    // a 0 has no effect: in a sum, or in an addition or subtraction of two sources
  bool most;   // a value that is not the largest has no effect: in a maximum
  bool least;  // a value that is not the smallest has no effect: in a minimum

  explicit PaddingKind(const char* op, bool reduces)
      : sum(Contains(op, "Sum") || (!reduces && (Contains(op, "Add") || Contains(op, "Sub") || Contains(op, "Axpy")))),
        most(!sum && Contains(op, "Max")),
        least(!sum && !most && Contains(op, "Min")) {}
  bool Any() const { return sum || most || least; }
  // Whether the padding has no effect beside a value that was loaded.
  bool IsNeutral(float padding, float loaded) const {
    return sum ? padding == 0.0f : most ? padding <= loaded : padding >= loaded;
  }

 private:
  static bool Contains(const char* text, const char* part) { return __builtin_strstr(text, part) != nullptr; }
};

// Returns the half or float at a byte of the Unified Buffer.
inline float PaddedValue(const Core& core, uint64_t at, uint32_t element_bytes) {
  if (element_bytes == 4) {
    float value;
    __builtin_memcpy(&value, core.ub + at, sizeof(value));
    return value;
  }
  uint16_t bits;
  __builtin_memcpy(&bits, core.ub + at, sizeof(bits));
  return FloatFromHalfBits(bits);
}

class PaddingCalls {
 public:
  // Follows the padding through a cached call; returns false if observers need the whole event for that.
  GNT_NOINLINE static bool Carry(const Core& core, PaddingState& state, const CachedCall& call) {
    bool reads = false, writes = false, rows = false;
    for (uint32_t i = 0; i < call.parts; ++i) {
      const CachedCall::Part& part = call.part[i];
      if (!state.Touches(part.blocks) || !Touches(state, part)) continue;
      (part.access == Access::Read ? reads : writes) = true;
      rows = rows || part.touches != Touches::Whole;
    }
    if (call.Gathers() && state.TouchesBytes(call.pieces.range.begin, call.pieces.range.end)) return false;
    if (!reads && !writes) return true;
    if (rows || call.part[0].touches != Touches::Whole) return false;
    if (reads && call.flow == Flow::Fold && !IsNeutral(core, state, call)) return false;
    if (reads && IsLaneByLane(call.flow)) return CarryLanes(state, call);
    for (uint32_t i = 0; i < call.parts; ++i)
      if (call.part[i].access != Access::Read) state.Clear(call.part[i].range.begin, call.part[i].range.end);
    return true;
  }

 private:
  static bool Touches(const PaddingState& state, const CachedCall::Part& part) {
    if (part.touches == gn_twin::Touches::Whole)
      return (part.range.begin | part.range.end) % kBlockBytes == 0 || state.FirstIn(part.range.begin, part.range.end);
    return state.TouchesMasked(part.masks);
  }
  static bool IsNeutral(const Core& core, const PaddingState& state, const CachedCall& call) {
    const PaddingKind kind(call.key.op, true);
    const CachedCall::Part& source = call.part[1];
    const uint32_t size = source.element_bytes;
    if (!kind.Any()) return true;
    if (source.access != Access::Read || (size != 2 && size != 4)) return false;
    bool neutral = true;
    state.ForPadded(source.range.begin, source.range.end, [&](uint64_t block, uint32_t bytes, uint8_t) {
      const uint64_t at = block * kBlockBytes;
      if (!neutral) return;
      float loaded = 0.0f;
      if (!kind.sum) {  // compare with a loaded neighbour, which belongs to the same row
        const uint32_t others = ~state.BytesIn(block);
        if (others == 0) return void(neutral = false);
        const uint64_t beside = at + static_cast<uint32_t>(__builtin_ctz(others));
        if (beside < source.range.begin || beside >= source.range.end) return void(neutral = false);
        loaded = PaddedValue(core, beside, size);
      }
      for (uint32_t i = 0; i < kBlockBytes; i += size)
        if ((bytes >> i & 1) != 0) neutral = neutral && kind.IsNeutral(PaddedValue(core, at + i, size), loaded);
    });
    return neutral;
  }
  // Marks results as padding where the sources are padding. Returns false if the operands have different sizes or are
  // not aligned, if an operand is read and written, or if the padding of one source may leave a value of the other
  // unchanged.
  static bool CarryLanes(PaddingState& state, const CachedCall& call) {
    const CachedCall::Part& dst = call.part[0];
    bool in_place = false;
    for (uint32_t i = 1; i < call.parts; ++i) {
      const CachedCall::Part& source = call.part[i];
      if (source.access != Access::Read || source.element_bytes != dst.element_bytes ||
          (source.range.begin | dst.range.begin) % kBlockBytes != 0 || source.Bytes() != dst.Bytes())
        return false;
      in_place = in_place || source.range.begin == dst.range.begin;
    }
    const bool same = call.parts == 3 && SamePadding(state, call.part[1].range, call.part[2].range) &&
                      SamePadding(state, call.part[2].range, call.part[1].range);
    if (call.parts > 2 && !same && PaddingKind(call.key.op, false).Any()) return false;
    if (in_place && (same || call.parts == 2)) return true;
    if (!in_place) state.Clear(dst.range.begin, dst.range.end);
    for (uint32_t i = 1; i < call.parts; ++i) {
      if (call.part[i].range.begin == dst.range.begin) continue;
      const uint64_t first = call.part[i].range.begin / kBlockBytes, to = dst.range.begin / kBlockBytes;
      state.ForPadded(
          call.part[i].range.begin, call.part[i].range.end,
          [&](uint64_t block, uint32_t bytes, uint8_t origin) { state.SetBlock(to + (block - first), bytes, origin); });
    }
    return true;
  }
  // Whether all padding of `range` is also padding at the same places of `other`.
  static bool SamePadding(const PaddingState& state, LocalRange range, LocalRange other) {
    bool same = true;
    const uint64_t first = range.begin / kBlockBytes, there = other.begin / kBlockBytes;
    state.ForPadded(range.begin, range.end, [&](uint64_t block, uint32_t bytes, uint8_t) {
      same = same && (state.BytesIn(there + (block - first)) & bytes) == bytes;
    });
    return same;
  }
};

}  // namespace gn_twin
