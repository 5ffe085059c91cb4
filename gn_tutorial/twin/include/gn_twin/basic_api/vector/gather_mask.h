// GatherMask: writes the selected elements of a tensor one after the other.
//
// Source: docs/zh/api, 比较与选择/GatherMask. The elements of dst after the selected ones keep their values here; the
// documentation says nothing about them.
#pragma once
#include "gn_twin/basic_api/vector/fill.h"

namespace AscendC {

struct GatherMaskParams {
  uint8_t src0BlockStride = 1;
  uint16_t repeatTimes = 0;
  uint16_t src0RepeatStride = 0;
  uint8_t src1RepeatStride = 0;

  constexpr GatherMaskParams() = default;
  constexpr GatherMaskParams(uint8_t src0_blk, uint16_t repeats, uint16_t src0_rep, uint8_t src1_rep)
      : src0BlockStride(src0_blk), repeatTimes(repeats), src0RepeatStride(src0_rep), src1RepeatStride(src1_rep) {}
};

enum class GatherMaskMode : uint8_t { VERSION_V1 = 0, VERSION_V2 = 1 };

}  // namespace AscendC

namespace gn_twin {

// The built-in patterns. Pattern 1 selects the elements with even index, 2 those with odd index, 3 to 6 the first,
// second, third or fourth of every four, 7 all. A pattern has one bit for each of eight elements, and then repeats.
inline constexpr uint8_t kPatterns[] = {0x00, 0x55, 0xaa, 0x11, 0x22, 0x44, 0x88, 0xff};

// The number of elements per repeat, and the number of repeats. Bytes returns the bytes that such an operand spans.
struct GatherSpan {
  uint32_t elements;
  uint32_t repeats;

  uint64_t Bytes(Strides strides, uint32_t element_bytes) const {
    Plan plan;
    plan.repeats = repeats;
    plan.first = plan.last = elements;
    return elements == 0 ? 0 : gn_twin::PlanBytes(plan, strides, element_bytes);
  }
};

// Counts the set bits of the first `elements` elements. byte(i): the bits of elements 8 * i to 8 * i + 7.
template <class Byte>
inline uint64_t CountSelected(uint32_t elements, Byte byte) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < elements / 8; ++i) count += static_cast<uint32_t>(__builtin_popcount(byte(i)));
  const uint32_t rest = elements % 8;
  return rest == 0 ? count : count + static_cast<uint32_t>(__builtin_popcount(byte(elements / 8) & ((1u << rest) - 1)));
}

// Writes the selected elements and returns their number. sources(operation) adds the operands that are read. `bits` is the user's tensor of one bit per element, in which
// repeats start pattern_rep blocks apart. If `bits` is null, the built-in `pattern` selects.
template <class T, class Sources>
uint64_t RunGatherMask(Loc loc, Sources sources, const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                       const uint8_t* bits, uint8_t pattern, uint32_t pattern_rep, GatherSpan span, Strides strides) {
  const T* src = src0.Data();
  const auto byte = [&](uint32_t repeat, uint32_t i) -> uint32_t {
    return bits == nullptr ? pattern : bits[uint64_t{repeat} * pattern_rep * kBlockBytes + i];
  };
  if constexpr (kObserved) {
    EmitOperation("GatherMask", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      sources(operation);
      uint64_t wanted = 0;
      for (uint32_t repeat = 0; repeat < span.repeats; ++repeat)
        wanted += CountSelected(span.elements, [&](uint32_t i) { return byte(repeat, i); });
      operation.Local("dst", dst, wanted * sizeof(T), Access::Write);
      return operation.Emit(uint64_t{span.elements} * span.repeats, span.repeats, sizeof(T));
    });
  }
  uint64_t kept = 0;
  for (uint32_t repeat = 0; repeat < span.repeats; ++repeat) {
    for (uint32_t i = 0; i < span.elements; ++i) {
      if ((byte(repeat, i / 8) >> (i % 8) & 1) != 0) dst.Data()[kept++] = src[LaneIndex<T>(strides, repeat, i)];
    }
  }
  return kept;
}

// Returns the span: in normal mode whole repeats of 256 bytes, in counter mode (reduce_mode) `mask` elements per
// repeat.
template <class T>
inline GatherSpan SpanOf(bool reduce_mode, uint32_t mask, uint32_t repeats) {
  return {reduce_mode ? mask : kLanes<T>, repeats};
}

template <class T>
inline Strides GatherStrides(const AscendC::GatherMaskParams& params) {
  static_assert(kWord<T>, "GatherMask on Atlas A2 takes 16- and 32-bit elements");
  return {params.src0BlockStride, params.src0RepeatStride};
}

// Sets the mask register as the instruction leaves it: in normal mode, with all bits of the low word set and none of
// the high word.
inline void LeaveGatherMask(Core& core) {
  core.mask.counter = false;
  core.mask.low = ~uint64_t{0};
  core.mask.high = 0;
}

}  // namespace gn_twin

namespace AscendC {

// Selects by a built-in pattern. rsvdCnt becomes the number of kept elements.
template <class T, GatherMaskMode mode = GatherMaskMode::VERSION_V2>
inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const uint8_t src1Pattern,
                       const bool reduceMode, const uint32_t mask, const GatherMaskParams& gatherMaskParams,
                       uint64_t& rsvdCnt, gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Strides strides = gn_twin::GatherStrides<T>(gatherMaskParams);
  const gn_twin::GatherSpan span = gn_twin::SpanOf<T>(reduceMode, mask, gatherMaskParams.repeatTimes);
  const auto sources = [&](gn_twin::Operation& operation) {
    if (src1Pattern < 1 || src1Pattern > 7) operation.Stop("gather-mask-pattern", {{"pattern", src1Pattern}});
    operation.Local("src0", src0, span.Bytes(strides, sizeof(T)), gn_twin::Access::Read)
        .Strides(strides.blk, strides.rep);
  };
  rsvdCnt =
      gn_twin::RunGatherMask(loc, sources, dst, src0, nullptr, gn_twin::kPatterns[src1Pattern & 7], 0, span, strides);
  gn_twin::LeaveGatherMask(gn_twin::ThisCore());
}

// Selects by a tensor of one bit per element, lowest bit first. U has the width of T.
template <class T, class U, GatherMaskMode mode = GatherMaskMode::VERSION_V2>
inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<U>& src1Pattern,
                       const bool reduceMode, const uint32_t mask, const GatherMaskParams& gatherMaskParams,
                       uint64_t& rsvdCnt, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<U, uint16_t, uint32_t> && sizeof(U) == sizeof(T),
                "the pattern of GatherMask is uint16_t for 16-bit elements, uint32_t for 32-bit elements");
  const gn_twin::Strides strides = gn_twin::GatherStrides<T>(gatherMaskParams);
  const gn_twin::GatherSpan span = gn_twin::SpanOf<T>(reduceMode, mask, gatherMaskParams.repeatTimes);
  const auto sources = [&](gn_twin::Operation& operation) {
    const uint64_t row = (uint64_t{span.elements} + 7) / 8;
    const uint64_t last = span.repeats == 0 ? 0 : uint64_t{span.repeats - 1} * gatherMaskParams.src1RepeatStride;
    operation.Local("src0", src0, span.Bytes(strides, sizeof(T)), gn_twin::Access::Read)
        .Strides(strides.blk, strides.rep);
    operation.Local("src1", src1Pattern, span.repeats == 0 ? 0 : last * gn_twin::kBlockBytes + row,
                    gn_twin::Access::Read);
  };
  rsvdCnt = gn_twin::RunGatherMask(loc, sources, dst, src0, src1Pattern.Bytes(), 0, gatherMaskParams.src1RepeatStride,
                                   span, strides);
  gn_twin::LeaveGatherMask(gn_twin::ThisCore());
}

}  // namespace AscendC
