// Instructions that fill and rearrange local memory: Duplicate, CreateVecIndex, Brcb, Copy.
//
// Source: docs/zh/api, 数据填充, 数据搬运 (Copy).
#pragma once
#include "gn_twin/tensor/repeat_values.h"
#include "gn_twin/basic_api/vector/forms.h"

namespace gn_twin {

template <class T>
inline constexpr bool kWord = sizeof(T) == 2 || sizeof(T) == 4;  // 16- and 32-bit elements

// Returns the value unchanged.
struct Same {
  using MovesBits = void;
  template <class T>
  T operator()(T value) const {
    return value;
  }
};

template <class T>
struct Constant {
  using MovesBits = void;
  T value;
  T operator()() const { return value; }
};

}  // namespace gn_twin

namespace AscendC {

struct BrcbRepeatParams {
  uint16_t dstBlkStride = 1;
  uint16_t dstRepStride = 8;
  constexpr BrcbRepeatParams() = default;
  constexpr BrcbRepeatParams(uint16_t dst_blk, uint16_t dst_rep) : dstBlkStride(dst_blk), dstRepStride(dst_rep) {}
};

struct CopyRepeatParams {
  uint16_t dstStride = 0;  // between blocks
  uint16_t srcStride = 0;
  uint16_t dstRepeatSize = 8;  // between repeats
  uint16_t srcRepeatSize = 8;
  constexpr CopyRepeatParams() = default;
  constexpr CopyRepeatParams(uint16_t dst_blk, uint16_t src_blk, uint16_t dst_rep, uint16_t src_rep)
      : dstStride(dst_blk), srcStride(src_blk), dstRepeatSize(dst_rep), srcRepeatSize(src_rep) {}
};

// Sets the first `count` elements of dst, or the active lanes of every repeat, to scalarValue.
template <class T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, const int32_t& count,
                      gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kWord<T>, "Duplicate on Atlas A2 takes 16- and 32-bit elements");
  gn_twin::ThisCore().NoteNumber("Duplicate", loc, scalarValue);
  gn_twin::RunCount("Duplicate", loc, gn_twin::Constant<T>{scalarValue}, count, dst);
}
template <class T, bool isSetMask = true, class Mask>
  requires gn_twin::kIsMask<Mask>
inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, Mask mask, const gn_twin::RepeatTime repeatTime,
                      const uint16_t dstBlockStride, const uint8_t dstRepeatStride,
                      gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kWord<T>, "Duplicate on Atlas A2 takes 16- and 32-bit elements");
  gn_twin::ThisCore().NoteNumber("Duplicate", loc, scalarValue);
  const gn_twin::Plan plan = gn_twin::MaskedPlan("Duplicate", loc, isSetMask, mask, gn_twin::kLanes<T>, repeatTime);
  gn_twin::RunPlan("Duplicate", loc, gn_twin::Constant<T>{scalarValue}, plan,
                   gn_twin::Arg<T>{dst, {dstBlockStride, dstRepeatStride}});
}

}  // namespace AscendC

namespace gn_twin {

// Returns first + index. Integers wrap around; half and float are rounded.
template <class T>
inline T Nth(T first, uint32_t index) {
  if constexpr (kOneOf<T, half, float>) {
    return T(static_cast<float>(first) + static_cast<float>(static_cast<int32_t>(index)));
  } else {
    return static_cast<T>(static_cast<uint32_t>(first) + index);
  }
}

template <class T>
void RunVecIndex(Loc loc, const LocalTensor<T>& dst, T first, const Plan& plan, Strides to) {
  static_assert(kOneOf<T, int16_t, half, int32_t, float>,
                "CreateVecIndex on Atlas A2 takes int16_t, half, int32_t, float");
  if constexpr (kObserved) {
    EmitOperation("CreateVecIndex", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      AddLanes(operation, "dst", dst, plan, to, Access::Write);
      return operation.Emit(plan, sizeof(T));
    });
  }
  RepeatValues<T> values;
  for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    for (uint32_t i = 0; i < kLanes<T>; ++i) values.lane[i] = Nth(first, repeat * kLanes<T> + i);
    values.Store(dst.Data(), to, repeat, plan);
  }
}

}  // namespace gn_twin

namespace AscendC {

// Writes firstValue, firstValue + 1, ... to the lanes. A lane that the mask excludes is counted too.
template <class T>
inline void CreateVecIndex(LocalTensor<T> dst, const T& firstValue, uint32_t count,
                           gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RunVecIndex(loc, dst, firstValue, gn_twin::LeadingPlan<T>(count), {});
}
template <class T, class Mask>
  requires gn_twin::kIsMask<Mask>
inline void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, Mask mask, gn_twin::RepeatTime repeatTime,
                           uint16_t dstBlkStride, uint8_t dstRepStride, gn_twin::Loc loc = gn_twin::Loc::here()) {
  const gn_twin::Plan plan = gn_twin::MaskedPlan("CreateVecIndex", loc, true, mask, gn_twin::kLanes<T>, repeatTime);
  gn_twin::RunVecIndex(loc, dst, firstValue, plan, {dstBlkStride, dstRepStride});
}

}  // namespace AscendC

namespace gn_twin {

// Fills 32-byte block i, counted over the repeats, with src[i].
template <class T>
void FillBlocks(T* dst, Strides to, const T* src, uint32_t repeats) {
  constexpr uint32_t kPerBlock = kBlockBytes / sizeof(T);
  for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
    for (uint32_t block = 0; block < kBlocksPerRepeat; ++block) {
      const T value = *src++;
      T* const out = dst + LaneIndex<T>(to, repeat, block * kPerBlock);
      for (uint32_t i = 0; i < kPerBlock; ++i) out[i] = value;
    }
  }
}

}  // namespace gn_twin

namespace AscendC {

// Takes eight source elements per repeat and fills one 32-byte block of dst with each. The source is contiguous.
template <class T>
inline void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src, const gn_twin::RepeatTime repeatTime,
                 const BrcbRepeatParams& params, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kWord<T>, "Brcb on Atlas A2 takes 16- and 32-bit elements");
  gn_twin::Core& core = gn_twin::ThisCore();
  gn_twin::Plan plan;
  plan.repeats = gn_twin::CounterRepeats(core, repeatTime.Checked("Brcb", loc), gn_twin::kLanes<T>);
  plan.lanes = plan.first = plan.last = gn_twin::kLanes<T>;
  const gn_twin::Strides to{params.dstBlkStride, params.dstRepStride};
  if constexpr (gn_twin::kObserved) {
    constexpr uint32_t kRow = gn_twin::kBlocksPerRepeat * sizeof(T);
    gn_twin::EmitRepeats("Brcb", loc, plan, gn_twin::Flow::Moves,
                         gn_twin::RepeatOperand{dst, {to.blk, to.rep, gn_twin::Fills::Spread}},
                         gn_twin::RepeatOperand{src, {kRow, kRow, gn_twin::Fills::Rows}});
  }
  gn_twin::FillBlocks(dst.Data(), to, src.Data(), plan.repeats);
  core.mask.low = core.mask.high = ~uint64_t{0};
}

// Copies lanes of src to lanes of dst. In counter mode the mask register holds the number of elements per repeat.
template <class T, bool isSetMask = true, class Mask>
  requires gn_twin::kIsConstMask<Mask>
inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, const gn_twin::RepeatTime repeatTime,
                 const CopyRepeatParams& repeatParams, gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kWord<T>, "Copy on Atlas A2 takes 16- and 32-bit elements");
  gn_twin::Core& core = gn_twin::ThisCore();
  const uint32_t repeats = repeatTime.Checked("Copy", loc);
  gn_twin::Plan plan = gn_twin::MaskedPlan("Copy", loc, isSetMask, mask, gn_twin::kLanes<T>, repeats);
  if (core.mask.counter) {
    plan.repeats = repeats;
    plan.first = plan.last = static_cast<uint32_t>(core.mask.low);
  }
  gn_twin::RunPlan("Copy", loc, gn_twin::Same{}, plan,
                   gn_twin::Arg<T>{dst, {repeatParams.dstStride, repeatParams.dstRepeatSize}},
                   gn_twin::Arg<T>{src, {repeatParams.srcStride, repeatParams.srcRepeatSize}});
}

}  // namespace AscendC
