// Sums of the lanes of a repeat or block. The order of the additions decides the bits of a sum.
//
// A sum is a tree of adjacent pairs; lanes that the mask leaves out take no part. Source: docs/zh/api, 归约计算; undecided
// points in docs/hardware-choices.md (half_tree, reduce_lanes).
#pragma once
#include "gn_twin/tensor/block_sums.h"
#include "gn_twin/basic_api/vector/binary.h"

namespace gn_twin {

// How this launch rounds sums (docs/hardware-choices.md, half_tree, half_overflow and denormals).
struct SumRule {
  bool round;  // for half only: round every step to half
  Finish finish;

  explicit SumRule(const Core& core)
      : round(core.job->options.half_tree == 0), finish{Saturates(core), core.job->options.denormals != 0} {}

  template <class T>
  float Step(float a, float b) const {
    if constexpr (kSame<T, half>) {
      return round ? static_cast<float>(finish(half(a + b))) : a + b;
    } else {
      return a + b;
    }
  }
};

// Returns the sum of up to 128 lanes. Absent lanes are -0.0f, because adding -0.0f changes no float, not even the sign
// of zero. `lanes` is overwritten.
template <class T>
inline T TreeSum(float* lanes, uint32_t width, const Core& core) {
  const SumRule rule(core);
  if (core.job->options.reduce_lanes == 0) {
    for (uint32_t half_width = width / 2; half_width > 0; half_width /= 2) {
      for (uint32_t i = 0; i < half_width; ++i) lanes[i] = rule.Step<T>(lanes[2 * i], lanes[2 * i + 1]);
    }
  } else {
    for (uint32_t half_width = width / 2; half_width > 0; half_width /= 2) {
      for (uint32_t i = 0; i < half_width; ++i) lanes[i] = rule.Step<T>(lanes[i], lanes[i + half_width]);
    }
  }
  return rule.finish(T(lanes[0]));
}

// Writes the lanes of one repeat as floats, and `absent` for lanes that are not active.
template <class T>
inline void LoadLanes(float* lanes, const Plan& plan, uint32_t repeat, const T* src, Strides strides, float absent) {
  const uint32_t active = plan.prefix ? plan.ActiveIn(repeat) : plan.lanes;
  if (plan.prefix && strides.blk == 1) {
    const T* at = src + LaneIndex<T>(strides, repeat, 0);
    for (uint32_t lane = 0; lane < active; ++lane) lanes[lane] = static_cast<float>(at[lane]);
  } else {
    for (uint32_t lane = 0; lane < active; ++lane) {
      lanes[lane] =
          plan.prefix || plan.Active(lane) ? static_cast<float>(src[LaneIndex<T>(strides, repeat, lane)]) : absent;
    }
  }
  for (uint32_t lane = active; lane < plan.lanes; ++lane) lanes[lane] = absent;
}

// Returns the sum of the active lanes of one repeat.
template <class T>
inline T SumOfRepeat(const Core& core, const Plan& plan, uint32_t repeat, const T* src, Strides strides) {
  float lanes[128];
  if constexpr (kSame<T, float>) {
    if (plan.prefix && plan.ActiveIn(repeat) == plan.lanes && core.job->options.reduce_lanes == 0) {
      constexpr uint32_t kPerBlock = kBlockBytes / sizeof(float);
      SumEightBlocks(lanes, src + LaneIndex<T>(strides, repeat, 0), uint64_t{strides.blk} * kPerBlock);
      return TreeSum<T>(lanes, kBlocksPerRepeat, core);
    }
  }
  LoadLanes(lanes, plan, repeat, src, strides, -0.0f);
  return TreeSum<T>(lanes, plan.lanes, core);
}

// Adds neighbours until `kLast` sums remain in `lanes`. The first step gives kWidth sums. Each width is a constant,
// because the host's compiler would otherwise not vectorise.
template <class T, uint32_t kWidth, uint32_t kLast>
inline void AddNeighbours(const SumRule& rule, float* lanes, float* sums) {
  GNT_INDEPENDENT
  for (uint32_t i = 0; i < kWidth; ++i) sums[i] = rule.Step<T>(lanes[2 * i], lanes[2 * i + 1]);
  for (uint32_t i = 0; i < kWidth; ++i) lanes[i] = sums[i];
  if constexpr (kWidth > kLast) AddNeighbours<T, kWidth / 2, kLast>(rule, lanes, sums);
}

// Stores the sums of the eight blocks of every repeat, in which all lanes are active. The sums of repeat r are written
// at byte r * pitch of `out`. A repeat is read before its sums are written, so dst may be src.
template <class T>
inline void SumWholeBlocks(const Core& core, uint32_t repeats, uint8_t* out, uint64_t pitch, const T* src,
                           Strides strides) {
  constexpr uint32_t kPerBlock = kBlockBytes / sizeof(T);
  constexpr uint32_t kBlocks = kBlocksPerRepeat;
  const SumRule rule(core);
  const bool neighbours = core.job->options.reduce_lanes == 0;
  if constexpr (kSame<T, float>) {
    if (neighbours && !rule.finish.flush) {
      for (uint32_t repeat = 0; repeat < repeats; ++repeat)
        SumEightBlocks(reinterpret_cast<float*>(out + repeat * pitch), src + LaneIndex<T>(strides, repeat, 0),
                       uint64_t{strides.blk} * kPerBlock);
      return;
    }
  }
  for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
    float lanes[kBlocks * kPerBlock];
    for (uint32_t block = 0; block < kBlocks; ++block) {
      const T* at = src + LaneIndex<T>(strides, repeat, block * kPerBlock);
      for (uint32_t i = 0; i < kPerBlock; ++i) lanes[block * kPerBlock + i] = static_cast<float>(at[i]);
    }
    T* sums_of_blocks = reinterpret_cast<T*>(out + repeat * pitch);
    if (neighbours) {
      float sums[kBlocks * kPerBlock / 2];
      AddNeighbours<T, kBlocks * kPerBlock / 2, kBlocks>(rule, lanes, sums);
      for (uint32_t block = 0; block < kBlocks; ++block) sums_of_blocks[block] = rule.finish(T(lanes[block]));
    } else {
      for (uint32_t block = 0; block < kBlocks; ++block)
        sums_of_blocks[block] = TreeSum<T>(lanes + block * kPerBlock, kPerBlock, core);
    }
  }
}

// Does what SumWholeBlocks does, if the mask excludes only whole blocks of floats at the end of a repeat, as for lines
// shorter than a repeat. Returns false, and does nothing, for any other mask, and if this launch's options change the
// order of the additions or flush subnormal results.
inline bool SumLeadingBlocks(const Core& core, const Plan& plan, uint8_t* out, uint64_t pitch, const float* src,
                             Strides strides) {
  constexpr uint32_t kPerBlock = kBlockBytes / sizeof(float);
  const bool usual = core.job->options.reduce_lanes == 0 && !SumRule(core).finish.flush;
  if (!usual || !plan.prefix || plan.first % kPerBlock != 0 || plan.last % kPerBlock != 0) return false;
  for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat)
    SumFewBlocks(reinterpret_cast<float*>(out + repeat * pitch), src + LaneIndex<float>(strides, repeat, 0),
                 uint64_t{strides.blk} * kPerBlock, plan.ActiveIn(repeat) / kPerBlock);
  return true;
}

}  // namespace gn_twin
