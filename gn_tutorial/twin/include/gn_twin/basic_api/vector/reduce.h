// Reductions over a repeat (WholeReduce), a 32-byte block (BlockReduce) and a pair (PairReduce), of half and float.
//
// Lanes that the mask leaves out take no part. Source: docs/zh/api, 归约计算; undecided points in
// docs/hardware-choices.md (minmax_nan, pair_unit).
#pragma once
#include "gn_twin/basic_api/vector/reduce_sum.h"

namespace gn_twin {

using AscendC::ReduceOrder;

template <class T>
struct Extreme {
  T value;
  uint32_t index;
};
inline constexpr uint32_t kNoLane = ~uint32_t{0};

// Whether `next` replaces `best`. An equal value does not, so the lowest index wins. For NaN see
// docs/hardware-choices.md, minmax_nan.
template <class Op>
inline bool Better(float next, float best, bool ignore_nan) {
  const bool best_nan = best != best;
  const bool next_nan = next != next;
  const bool better = kSame<Op, MaxOp> ? next > best : next < best;
  return ignore_nan ? (better || (best_nan && !next_nan)) : (better || (next_nan && !best_nan));
}

// Returns the lowest lane that has the extreme value of the first `lanes` lanes (at least one) of a repeat; kNoLane if
// one of these lanes is NaN.
//
// It uses integer loops without branches, which the compiler vectorises: they compute each lane's rank (ordered like
// the values, with both zeros equal), then the best rank, then the first lane that has it.
template <class Op, class T>
[[gnu::always_inline]] inline uint32_t FirstExtremeOf(const T* at, uint32_t lanes) {
  constexpr int32_t kMagnitude = 0x7fffffff;
  constexpr int32_t kInfinity = 0x7f800000;
  int32_t ranks[kLanes<T>];
  for (uint32_t i = 0; i < lanes; ++i)
    ranks[i] = __builtin_bit_cast(int32_t, static_cast<float>(at[i]) + 0.0f);  // -0 becomes +0
  int32_t largest = 0;
  for (uint32_t i = 0; i < lanes; ++i) largest = largest < (ranks[i] & kMagnitude) ? ranks[i] & kMagnitude : largest;
  if (largest > kInfinity) return kNoLane;
  int32_t best = INT32_MIN;
  for (uint32_t i = 0; i < lanes; ++i) {
    const int32_t rank = ranks[i] ^ ((ranks[i] >> 31) & kMagnitude);
    ranks[i] = kSame<Op, MaxOp> ? rank : ~rank;
    best = best < ranks[i] ? ranks[i] : best;
  }
  uint32_t first = kNoLane;
  for (uint32_t i = 0; i < lanes; ++i) {
    const uint32_t here = i | (0u - uint32_t{ranks[i] != best});  // kNoLane if its rank is not the best
    first = here < first ? here : first;
  }
  return first;
}

// Calls FirstExtremeOf; for whole repeats the number of lanes is a constant. It is a function of its own, because the
// speed of the inlined code depended on the code around it.
template <class Op, class T>
GNT_NOINLINE uint32_t FirstExtreme(const T* at, uint32_t lanes) {
  return lanes == kLanes<T> ? FirstExtremeOf<Op>(at, kLanes<T>) : FirstExtremeOf<Op>(at, lanes);
}

// Finds the largest (or smallest) of the active lanes; of equal values, the lane with the lowest index. For NaN see
// minmax_nan. Returns false if no lane is active.
template <class Op, class T>
inline bool ExtremeOfRepeat(const Plan& plan, uint32_t repeat, const T* src, Strides strides, bool ignore_nan,
                            Extreme<T>& out) {
  const uint32_t lanes = plan.prefix ? plan.ActiveIn(repeat) : plan.lanes;
  if (plan.prefix && strides.blk == 1 && lanes > 0) {
    const T* const at = src + LaneIndex<T>(strides, repeat, 0);
    const uint32_t first = FirstExtreme<Op>(at, lanes);
    if (first != kNoLane) {
      out = {at[first], first};
      return true;
    }
  }
  bool found = false;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if (!plan.prefix && !plan.Active(lane)) continue;
    const T value = src[LaneIndex<T>(strides, repeat, lane)];
    if (!found) {
      out = {value, lane};
      found = true;
      continue;
    }
    if (Better<Op>(static_cast<float>(value), static_cast<float>(out.value), ignore_nan)) out = {value, lane};
  }
  return found;
}

// Warns if the sum of finite halves is infinite. It is called before the sum is stored, because dst may be src.
template <class T>
inline void CheckSum(const char* op, Loc loc, const Plan& plan, const T* src, Strides strides, uint32_t first_repeat,
                     uint32_t repeats, T sum) {
  if constexpr (kObserved && kSame<T, half>) {
    if (!IsInfinite(sum)) return;
    for (uint32_t repeat = first_repeat; repeat < first_repeat + repeats; ++repeat) {
      float lanes[128];
      LoadLanes(lanes, plan, repeat, src, strides, 0.0f);
      if (!AllFinite(lanes, plan.lanes)) return;
    }
    WarnOverflow(op, loc, first_repeat);
  }
}

// Returns a lane number as the raw bits of T, which the kernel reads by reinterpreting the tensor as uint16_t or
// uint32_t.
template <class T>
inline T IndexBits(uint32_t index) {
  T bits;
  __builtin_memcpy(&bits, &index, sizeof(T));  // little endian: the low bytes
  return bits;
}

// The results of a reduction: each repeat has `units` contiguous results of `unit` bytes; repeats are `pitch` bytes
// apart. `pairs`: a result is a value and its index.
struct Results {
  uint64_t units = 1;
  uint64_t unit = 0;
  uint64_t pitch = 0;
  bool pairs = false;

  template <class T>
  RepeatOperand<T> In(const LocalTensor<T>& dst, uint32_t align) const {
    const Fills fills = pairs ? Fills::Pairs : Fills::Rows;
    return {dst, {static_cast<uint32_t>(units * unit), static_cast<uint32_t>(pitch), fills, align}};
  }
};

template <class T>
void CheckReduce(const char* op, Loc loc, const Plan& plan, const LocalTensor<T>& dst, Results results,
                 const LocalTensor<T>& src, Strides strides, uint32_t align) {
  static_assert(kOneOf<T, half, float>, "reductions on Atlas A2 take half, float");
  if constexpr (kObserved) {
    EmitRepeats(op, loc, plan, Flow::Fold, results.In(dst, align), RepeatOperand{src, strides});
  }
}

// Does what CheckReduce does, for a mask that excludes lanes. A group whose lanes are all excluded keeps its old
// result, so the event has only the results that are written.
template <class T>
GNT_COLD void CheckMaskedGroups(const char* op, Loc loc, const Plan& plan, const LocalTensor<T>& dst, Results results,
                                const LocalTensor<T>& src, Strides strides, uint32_t align, uint32_t group) {
  EmitOperation(op, Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
    const OperandLayout written = results.In(dst, align).layout;
    operation.Made(written.Made(plan, sizeof(T))).Check("dst", dst, written.Bytes(plan, sizeof(T)), align);
    PieceList pieces(plan.repeats * (plan.lanes / group));
    for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
      const uint32_t active = plan.prefix ? plan.ActiveIn(repeat) : plan.lanes;
      for (uint32_t lane = 0; lane < active; lane += group) {
        bool any = plan.prefix;
        for (uint32_t i = lane; i < lane + group; ++i) any = any || plan.Active(i);
        if (any) pieces.Add(repeat * results.pitch + lane / group * results.unit);
      }
    }
    operation.Pieces("dst", dst.Bytes(), pieces.Data(), pieces.Count(), results.unit, Access::Write, sizeof(T));
    AddLanes(operation, "src", src, plan, strides, Access::Read);
    return operation.Flows(Flow::Fold).Emit(plan, sizeof(T));
  });
}

inline void RequireRepeats(const char* op, int32_t repeats, int32_t limit, Loc loc) {
  if constexpr (kObserved) {
    if (repeats < 0 || repeats > limit)
      ThisCore().Stop("repeat-range", loc, {{"op", op}, {"repeats", repeats}, {"limit", limit}});
  }
}

// Reduces each group of `group` lanes (a block or a pair) of every repeat to one value. direction: 0 the sum, 1 the
// maximum, -1 the minimum.
template <class T, class Mask>
void RunGroupReduce(const char* op, Loc loc, const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t repeats,
                    const Mask& mask, bool set_mask, uint32_t group, uint32_t dst_unit_bytes, int32_t dst_rep,
                    Strides strides, int direction) {
  RequireRepeats(op, repeats, kMaxRepeats, loc);
  Core& core = ThisCore();
  const Plan plan = MaskedPlan(op, loc, set_mask, mask, kLanes<T>, static_cast<uint32_t>(repeats));
  const uint32_t groups = kLanes<T> / group;
  const bool whole = plan.prefix && plan.first == plan.lanes && plan.last == plan.lanes;
  if (group == 2 && core.job->options.pair_unit != 0) dst_unit_bytes = (plan.Reach() + 1) / 2 * sizeof(T);
  if constexpr (kObserved) {
    const Results results{groups, sizeof(T), uint64_t{dst_unit_bytes} * static_cast<uint32_t>(dst_rep)};
    const uint32_t align = group == 2 ? kBlockBytes : groups * sizeof(T);
    if (whole) {
      CheckReduce(op, loc, plan, dst, results, src, strides, align);
    } else {
      CheckMaskedGroups(op, loc, plan, dst, results, src, strides, align, group);
    }
  }
  const uint64_t pitch = uint64_t{static_cast<uint32_t>(dst_rep)} * dst_unit_bytes;
  if (whole && direction == 0 && group == kBlockBytes / sizeof(T))
    return SumWholeBlocks(core, plan.repeats, dst.Bytes(), pitch, src.Data(), strides);
  if constexpr (kSame<T, float>) {
    if (direction == 0 && group == kBlockBytes / sizeof(T) &&
        SumLeadingBlocks(core, plan, dst.Bytes(), pitch, src.Data(), strides))
      return;
  }
  for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    T* out = reinterpret_cast<T*>(dst.Bytes() + repeat * pitch);
    const uint32_t active = plan.prefix ? plan.ActiveIn(repeat) : plan.lanes;
    for (uint32_t g = 0; g < groups; ++g) {
      float lanes[128];
      uint32_t present = 0;
      float best = 0.0f;
      for (uint32_t i = 0; i < group; ++i) {
        const uint32_t lane = g * group + i;
        const bool on = lane < active && (plan.prefix || plan.Active(lane));
        const float value = on ? static_cast<float>(src.Data()[LaneIndex<T>(strides, repeat, lane)]) : -0.0f;
        lanes[i] = value;
        if (!on) continue;
        if (direction > 0) best = present == 0 ? value : MaxOp{IgnoresNan(core)}(best, value);
        if (direction < 0) best = present == 0 ? value : MinOp{IgnoresNan(core)}(best, value);
        ++present;
      }
      if (present == 0) continue;  // nothing is written for a group whose lanes are all excluded
      out[g] = direction == 0 ? TreeSum<T>(lanes, group, core) : T(best);
    }
  }
}

// Stores the extreme value of every repeat, its index, or both, as `order` says.
template <class Op, class T, class Mask>
void RunWholeExtreme(const char* op, Loc loc, const LocalTensor<T>& dst, const LocalTensor<T>& src, const Mask& mask,
                     bool set_mask, int32_t repeats, int32_t dst_rep, Strides strides, ReduceOrder order) {
  RequireRepeats(op, repeats, kMaxRepeats, loc);
  Core& core = ThisCore();
  const Plan plan = MaskedPlan(op, loc, set_mask, mask, kLanes<T>, static_cast<uint32_t>(repeats));
  const bool both = order == ReduceOrder::ORDER_VALUE_INDEX || order == ReduceOrder::ORDER_INDEX_VALUE;
  const uint32_t unit = order == ReduceOrder::ORDER_ONLY_INDEX ? 4 : (both ? 2 : 1) * sizeof(T);
  CheckReduce(op, loc, plan, dst, {1, unit, uint64_t{unit} * static_cast<uint32_t>(dst_rep), both}, src, strides, unit);
  if (kObserved && order == ReduceOrder::ORDER_VALUE_INDEX && dst_rep == 1)
    core.NotePairs({dst.Bytes(), plan.repeats, static_cast<uint8_t>(unit), sizeof(T), op, loc});
  bool found = false;
  for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    Extreme<T> best;
    if (!ExtremeOfRepeat<Op>(plan, repeat, src.Data(), strides, IgnoresNan(core), best)) continue;
    const Extreme<T> here{best.value, best.index + repeat * kLanes<T>};
    if (!found || Better<Op>(static_cast<float>(here.value), core.reduce_extreme, IgnoresNan(core))) {
      core.reduce_extreme = static_cast<float>(here.value);
      core.reduce_index = here.index;
    }
    found = true;
    uint8_t* out = dst.Bytes() + uint64_t{repeat} * dst_rep * unit;
    const T index = IndexBits<T>(best.index);
    switch (order) {
      case ReduceOrder::ORDER_VALUE_INDEX:
        __builtin_memcpy(out, &best.value, sizeof(T));
        __builtin_memcpy(out + sizeof(T), &index, sizeof(T));
        break;
      case ReduceOrder::ORDER_INDEX_VALUE:
        __builtin_memcpy(out, &index, sizeof(T));
        __builtin_memcpy(out + sizeof(T), &best.value, sizeof(T));
        break;
      case ReduceOrder::ORDER_ONLY_VALUE: __builtin_memcpy(out, &best.value, sizeof(T)); break;
      case ReduceOrder::ORDER_ONLY_INDEX: __builtin_memcpy(out, &best.index, 4); break;
    }
  }
}

}  // namespace gn_twin

namespace AscendC {

// Stores one sum per repeat. dstRepStride counts elements.
template <class T, bool isSetMask = true, class Mask>
  requires gn_twin::kIsConstMask<Mask>
inline void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, const int32_t repeatTime,
                           const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
                           gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RequireRepeats("WholeReduceSum", repeatTime, gn_twin::kMaxRepeats, loc);
  gn_twin::Core& core = gn_twin::ThisCore();
  const gn_twin::Strides strides{static_cast<uint16_t>(srcBlkStride), static_cast<uint16_t>(srcRepStride)};
  const gn_twin::Plan plan = gn_twin::MaskedPlan("WholeReduceSum", loc, isSetMask, mask, gn_twin::kLanes<T>,
                                                 static_cast<uint32_t>(repeatTime));
  gn_twin::CheckReduce("WholeReduceSum", loc, plan, dst,
                       {1, sizeof(T), sizeof(T) * uint64_t{static_cast<uint32_t>(dstRepStride)}}, src, strides,
                       sizeof(T));
  for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    const T sum = gn_twin::SumOfRepeat(core, plan, repeat, src.Data(), strides);
    gn_twin::CheckSum("WholeReduceSum", loc, plan, src.Data(), strides, repeat, 1, sum);
    dst.Data()[uint64_t{repeat} * dstRepStride] = sum;
  }
}
// Does what WholeReduceSum does. The repeat count comes before the mask, and the block stride of the destination has no
// effect.
template <class T, bool isSetMask = true>
inline void RepeatReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                            const int32_t mask, const int32_t /*dstBlkStride*/, const int32_t srcBlkStride,
                            const int32_t dstRepStride, const int32_t srcRepStride,
                            gn_twin::Loc loc = gn_twin::Loc::here()) {
  WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, loc);
}

#define GNT_WHOLE_EXTREME(NAME, OP)                                                                                   \
  template <class T, bool isSetMask = true, class Mask>                                                               \
    requires gn_twin::kIsConstMask<Mask>                                                                              \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask, const int32_t repeatTime,         \
                   const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                \
                   ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, gn_twin::Loc loc = gn_twin::Loc::here()) {     \
    gn_twin::RunWholeExtreme<gn_twin::OP>(#NAME, loc, dst, src, mask, isSetMask, repeatTime, dstRepStride,            \
                                          {static_cast<uint16_t>(srcBlkStride), static_cast<uint16_t>(srcRepStride)}, \
                                          order);                                                                     \
  }
GNT_WHOLE_EXTREME(WholeReduceMax, MaxOp)
GNT_WHOLE_EXTREME(WholeReduceMin, MinOp)
#undef GNT_WHOLE_EXTREME

// BlockReduce gives eight results per repeat, one per 32-byte block (dstRepStride in units of eight elements);
// PairReduceSum gives half as many results as lanes (dstRepStride in units of 128 bytes). The repeat count comes before
// the mask.
#define GNT_GROUP_REDUCE(NAME, GROUP, UNIT, DIRECTION)                                                              \
  template <class T, bool isSetMask = true, class Mask>                                                             \
    requires gn_twin::kIsConstMask<Mask>                                                                            \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, Mask mask,       \
                   const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,              \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                       \
    gn_twin::RunGroupReduce(#NAME, loc, dst, src, repeatTime, mask, isSetMask, GROUP, UNIT, dstRepStride,           \
                            {static_cast<uint16_t>(srcBlkStride), static_cast<uint16_t>(srcRepStride)}, DIRECTION); \
  }
GNT_GROUP_REDUCE(BlockReduceSum, gn_twin::kBlockBytes / sizeof(T), 8 * sizeof(T), 0)
GNT_GROUP_REDUCE(BlockReduceMax, gn_twin::kBlockBytes / sizeof(T), 8 * sizeof(T), 1)
GNT_GROUP_REDUCE(BlockReduceMin, gn_twin::kBlockBytes / sizeof(T), 8 * sizeof(T), -1)
GNT_GROUP_REDUCE(PairReduceSum, 2, 128, 0)
#undef GNT_GROUP_REDUCE

}  // namespace AscendC
