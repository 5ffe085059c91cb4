// Reductions of a whole tensor of half or float to one value: ReduceSum, ReduceMax, ReduceMin.
//
// The order of the additions decides the bits of a sum. Inside a repeat the additions form a tree
// (basic_api/vector/reduce_sum.h). ReduceSum with a count then adds the repeats' sums one after the other. ReduceSum
// with mask and repeat adds them as a tree.
// Source: docs/zh/api, 归约计算/ReduceSum, ReduceMax, ReduceMin.
#pragma once
#include "gn_twin/basic_api/vector/reduce.h"

namespace gn_twin {

// Returns the size of the work buffer that the documentation asks for, in elements. The first round writes `results`
// elements, rounded up to whole blocks. With all_rounds, which a search with an index needs, each further round adds
// its own results, until one value and its index are left.
constexpr uint64_t WorkElements(uint64_t results, bool all_rounds, uint32_t element_bytes) {
  const uint64_t per_block = kBlockBytes / element_bytes, per_repeat = kRepeatBytes / element_bytes;
  uint64_t sum = 0;
  for (uint64_t of_round = results;; of_round = (of_round + per_repeat - 1) / per_repeat * 2) {
    sum += (of_round + per_block - 1) / per_block * per_block;
    if (!all_rounds || of_round <= 2) return sum;
  }
}

// Checks a reduction of a whole tensor and emits its event. dst holds `results` elements, at any element's address.
template <class T>
void CheckTensorReduce(const char* op, Loc loc, const Plan& plan, const LocalTensor<T>& dst, uint32_t results,
                       const LocalTensor<T>& src, Strides strides, const LocalTensor<T>& tmp, uint64_t tmp_elements,
                       uint64_t work_elements) {
  static_assert(kOneOf<T, half, float>, "reductions on Atlas A2 take half, float");
  if constexpr (kObserved) {
    if (tmp_elements == 0) {
      return EmitRepeats(op, loc, plan, Flow::Fold,
                         RepeatOperand{dst, {results * uint32_t{sizeof(T)}, 0, Fills::Once, sizeof(T)}},
                         RepeatOperand{src, strides});
    }
    EmitOperation(op, Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      operation.Local("dst", dst, results * sizeof(T), Access::Write, sizeof(T));
      AddLanes(operation, "src", src, plan, strides, Access::Read);
      operation.Works(work_elements);
      operation.Local("sharedTmpBuffer", tmp, tmp_elements * sizeof(T), Access::ReadWrite);
      return operation.Flows(Flow::Fold).Emit(plan, sizeof(T));
    });
  }
}

inline void RequireCount(const char* op, int32_t count, Loc loc) {
  if constexpr (kObserved) {
    if (count < 1) ThisCore().Stop("reduce-count", loc, {{"op", op}, {"count", count}});
  }
}

// Stores the extreme over all repeats and, if with_index, its index; nothing if no lane is active. Repeats are visited
// in order, so the lowest index wins ties.
template <class Op, class T>
[[gnu::always_inline]] inline void RunExtreme(const char* op, Loc loc, Plan plan, const LocalTensor<T>& dst,
                                              const LocalTensor<T>& src, Strides strides, const LocalTensor<T>& tmp,
                                              bool with_index) {
  CheckTensorReduce(op, loc, plan, dst, with_index ? 2 : 1, src, strides, tmp,
                    with_index ? (plan.repeats > 1 ? 2ull * plan.repeats : 0) : plan.repeats,
                    WorkElements(2ull * plan.repeats, with_index, sizeof(T)));
  const bool ignore_nan = IgnoresNan(ThisCore());
  bool found = false;
  Extreme<T> best{};
  for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    Extreme<T> here;
    if (!ExtremeOfRepeat<Op>(plan, repeat, src.Data(), strides, ignore_nan, here)) continue;
    here.index += repeat * plan.lanes;
    if (!found || Better<Op>(static_cast<float>(here.value), static_cast<float>(best.value), ignore_nan)) best = here;
    found = true;
  }
  if (!found) return;
  dst.Data()[0] = best.value;
  ThisCore().reduce_extreme = static_cast<float>(best.value);
  ThisCore().reduce_index = ~0u;  // documented as not accurate after ReduceMax and ReduceMin
  if (with_index) dst.Data()[1] = IndexBits<T>(best.index);
}

}  // namespace gn_twin

namespace AscendC {

// Stores the sum of `count` elements in dst[0], which needs only element alignment. With isSetMask = false the mask
// register chooses the elements, not `count`. This form does not use the scratch tensor.
template <class T, bool isSetMask = true>
inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const int32_t count, gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RequireCount("ReduceSum", count, loc);
  gn_twin::Core& core = gn_twin::ThisCore();
  const gn_twin::Plan plan = isSetMask ? gn_twin::LeadingPlan<T>(static_cast<uint32_t>(count))
                                       : gn_twin::PlanFromRegister(core, gn_twin::kLanes<T>, 1);
  gn_twin::CheckTensorReduce("ReduceSum", loc, plan, dst, 1, src, {}, sharedTmpBuffer, 0, 0);
  const gn_twin::SumRule rule(core);
  float sum = -0.0f;
  for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    sum = rule.Step<T>(sum, static_cast<float>(gn_twin::SumOfRepeat(core, plan, repeat, src.Data(), {})));
  }
  gn_twin::CheckSum("ReduceSum", loc, plan, src.Data(), {}, 0, plan.repeats, T(sum));
  dst.Data()[0] = rule.finish(T(sum));
  core.reduce_sum = static_cast<float>(dst.Data()[0]);
  core.reduce_sum_bits = 0;
  __builtin_memcpy(&core.reduce_sum_bits, dst.Data(), sizeof(T));
  gn_twin::ResetMaskRegister(core);
}
// Stores the sum of the active lanes of all repeats in dst[0]. Each repeat is added as a tree; then the repeats' sums
// are added as trees of 64 floats or 128 halves. The scratch tensor holds one sum per repeat.
template <class T, bool isSetMask = true, class Mask>
  requires gn_twin::kIsConstMask<Mask>
inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      Mask mask, const int32_t repeatTime, const int32_t srcRepStride,
                      gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RequireRepeats("ReduceSum", repeatTime, 1 << 30, loc);
  gn_twin::Core& core = gn_twin::ThisCore();
  const gn_twin::Strides strides{1, static_cast<uint16_t>(srcRepStride)};
  const gn_twin::Plan plan =
      gn_twin::MaskedPlan("ReduceSum", loc, isSetMask, mask, gn_twin::kLanes<T>, static_cast<uint32_t>(repeatTime));
  gn_twin::CheckTensorReduce("ReduceSum", loc, plan, dst, 1, src, strides, sharedTmpBuffer, plan.repeats,
                             gn_twin::WorkElements(plan.repeats, false, sizeof(T)));
  if (plan.repeats == 0) return;
  T* partial = sharedTmpBuffer.Data();
  for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    partial[repeat] = gn_twin::SumOfRepeat(core, plan, repeat, src.Data(), strides);
  }
  for (uint32_t count = plan.repeats; count > 1;) {
    const gn_twin::Plan next = gn_twin::LeadingPlan<T>(count);
    for (uint32_t repeat = 0; repeat < next.repeats; ++repeat)
      partial[repeat] = gn_twin::SumOfRepeat(core, next, repeat, partial, {});
    count = next.repeats;
  }
  dst.Data()[0] = partial[0];
}

// Stores the largest (smallest) element in dst[0] and, with calIndex, the raw bits of its position in dst[1].
#define GNT_EXTREME(NAME, OP)                                                                                         \
  template <class T>                                                                                                  \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,       \
                   const int32_t count, bool calIndex = false, gn_twin::Loc loc = gn_twin::Loc::here()) {             \
    gn_twin::RequireCount(#NAME, count, loc);                                                                         \
    gn_twin::RunExtreme<gn_twin::OP>(#NAME, loc, gn_twin::LeadingPlan<T>(static_cast<uint32_t>(count)), dst, src, {}, \
                                     sharedTmpBuffer, calIndex);                                                      \
    gn_twin::ResetMaskRegister(gn_twin::ThisCore());                                                                  \
  }                                                                                                                   \
  template <class T, class Mask>                                                                                      \
    requires gn_twin::kIsConstMask<Mask>                                                                              \
  inline void NAME(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,       \
                   Mask mask, const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = false,            \
                   gn_twin::Loc loc = gn_twin::Loc::here()) {                                                         \
    gn_twin::RequireRepeats(#NAME, repeatTime, 1 << 30, loc);                                                         \
    gn_twin::RunExtreme<gn_twin::OP>(                                                                                 \
        #NAME, loc,                                                                                                   \
        gn_twin::MaskedPlan(#NAME, loc, true, mask, gn_twin::kLanes<T>, static_cast<uint32_t>(repeatTime)), dst, src, \
        {1, static_cast<uint16_t>(srcRepStride)}, sharedTmpBuffer, calIndex);                                         \
  }
GNT_EXTREME(ReduceMax, MaxOp)
GNT_EXTREME(ReduceMin, MinOp)
#undef GNT_EXTREME

// The functions below read the registers that the last reduction set. GetReduceRepeatSumSpr returns the sum of
// ReduceSum with a count. GetReduceRepeatMaxMinSpr gives the extreme over all repeats of WholeReduceMax,
// WholeReduceMin, ReduceMax or ReduceMin, and its position as raw bits of T. The position is valid only after the two
// Whole functions.
template <class T>
inline T GetReduceRepeatSumSpr() {
  return T(gn_twin::ThisCore().reduce_sum);
}
template <class T>
inline void GetReduceRepeatMaxMinSpr(T& maxMinValue, T& maxMinIndex) {
  maxMinValue = T(gn_twin::ThisCore().reduce_extreme);
  maxMinIndex = gn_twin::IndexBits<T>(gn_twin::ThisCore().reduce_index);
}
template <class T>
inline void GetReduceRepeatMaxMinSpr(T& maxMinValue) {
  maxMinValue = T(gn_twin::ThisCore().reduce_extreme);
}
// Older names of the functions above.
template <class T>
inline T GetAccVal() {
  return GetReduceRepeatSumSpr<T>();
}
// Returns the register's bits, because kernels read the number through a pointer to them.
inline int64_t GetAccVal() { return gn_twin::ThisCore().reduce_sum_bits; }
template <class T>
inline void GetReduceMaxMinCount(T& maxMinValue, T& maxMinIndex) {
  GetReduceRepeatMaxMinSpr(maxMinValue, maxMinIndex);
}
template <class T>
inline void GetReduceMaxMinCount(T& maxMinValue) {
  GetReduceRepeatMaxMinSpr(maxMinValue);
}

}  // namespace AscendC
