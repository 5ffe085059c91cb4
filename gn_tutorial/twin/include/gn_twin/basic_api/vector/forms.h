// The call forms of element-wise instructions. This code checks operands, emits events and computes for all forms.
#pragma once
#include "gn_twin/basic_api/vector/half_overflow.h"
#include "gn_twin/tensor/repeat_params.h"
#include "gn_twin/tensor/emit.h"
#include "gn_twin/tensor/nan_origins.h"

namespace gn_twin {

using AscendC::LocalTensor;

// One operand of an instruction: its tensor and its strides.
template <class T>
struct Arg {
  const LocalTensor<T>& tensor;
  Strides strides{};
};

// Changes finished results as the options ask. saturate (CTRL[48] = 0): infinity becomes the largest finite half or
// bfloat16_t, NaN becomes 0. flush: subnormal results become 0.
struct Finish {
  bool saturate;
  bool flush;
  template <class T>
  T operator()(T value) const {
    if constexpr (!kOneOf<T, half, bfloat16_t, float>) {
      return value;
    } else if constexpr (kSame<T, float>) {
      return flush && __builtin_fabsf(value) < 1.17549435e-38f ? __builtin_copysignf(0.0f, value) : value;  // 2^-126
    } else {
      constexpr uint16_t kInfinity = kSame<T, half> ? 0x7c00 : 0x7f80;
      constexpr uint16_t kNormal = kSame<T, half> ? 0x0400 : 0x0080;
      const uint16_t sign = value.bits & 0x8000;
      const uint16_t magnitude = value.bits & 0x7fff;
      uint16_t bits = value.bits;
      if (saturate && magnitude == kInfinity) bits = static_cast<uint16_t>(sign | (kInfinity - 1));
      if (saturate && magnitude > kInfinity) bits = 0;
      if (flush && magnitude < kNormal) bits = sign;
      return __builtin_bit_cast(T, bits);
    }
  }
};

// Whether Finish can change an operation's results. It never changes integers, which have options of their own, or
// results of operations that only move bits (such an operation defines a type MovesBits).
template <class D, class Op>
inline constexpr bool kFinished = kOneOf<D, half, bfloat16_t, float> && !requires { typename Op::MovesBits; };
// Whether this launch's options, or the kernel's setting of CTRL[48], can change results of type D.
template <class D, class Op>
inline bool Finishes(const Core& core) {
  return kFinished<D, Op> && (Saturates(core) || core.job->options.denormals != 0);
}
// Calls run(finish) if Finishes returns true. That is rare, so `run` makes a second pass over the results, and the
// operations themselves need no code for these options.
template <class D, class Op, class Run>
inline void WithFinish(const Core& core, Run run) {
  if constexpr (kFinished<D, Op>) {
    if (Finishes<D, Op>(core)) [[unlikely]]
      run(Finish{Saturates(core), core.job->options.denormals != 0});
  }
}

// Whether the twin warns if an operation on finite operands gives an infinite half.
template <class D, class Op>
inline constexpr bool kWatched = kObserved && kSame<D, half> && !requires { typename Op::MovesBits; };

// Whether an operation is defined only from 0 on. Such an operation has a type FromZero.
template <class Op, class D>
inline constexpr bool kFromZero = kObserved && kOneOf<D, float, half> && requires { typename Op::FromZero; };
// Keeps the first negative operand of such an operation if the results will overwrite it.
template <class D, class S>
inline void KeepNegative(const char* op, Loc loc, uint32_t count, const D* dst, const S* src) {
  if (static_cast<const void*>(dst) != static_cast<const void*>(src)) return;
  for (uint32_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(src[i]);
    if (value < 0.0f) [[unlikely]]
      return ThisCore().nans.Keep(op, loc.line, value);
  }
}
// Raises the flag of an invalid operation if results are not finite, for an operation that computes them without one:
// it has a type Silent.
template <class Op, class D>
inline void RaiseIfSilent(uint32_t count, const D* dst) {
  if constexpr (kObserved && requires { typename Op::Silent; })
    if (AnyNotFinite(dst, count)) RaiseInvalid();
}

// Whether an operation can make NaN or infinity from ordinary numbers: it has a type LeavesNumbers.
template <class Op>
inline constexpr bool kLeavesNumbers = kObserved && requires { typename Op::LeavesNumbers; };

// A Formula of an operation on T. One that takes a number as its second operand has the operation on both as a type
// OfNumber.
template <class Op, class T>
GNT_COLD float Compute(float first, float second) {
  if constexpr (requires { typename Op::OfNumber; }) {
    return Compute<typename Op::OfNumber, T>(first, second);
  } else if constexpr (requires(T value) { Op{}(value); }) {
    return static_cast<float>(Op{}(T(first)));
  } else {
    return static_cast<float>(Op{}(T(first), T(second)));
  }
}
// How an operation computes. An operation whose first source is always the destination defines a type Accumulates.
template <class Op, class D, class... S>
constexpr Computes HowOf() {
  if constexpr (requires { typename Op::Accumulates; }) {
    return Flow::Accumulate;
  } else if constexpr (kOneOf<D, half, float> && sizeof...(S) != 0 && (kSame<S, D> && ...) && requires { Op{}; }) {
    return {Flow::Lanes, &Compute<Op, D>};
  } else {
    return Flow::Lanes;
  }
}

// Runs an instruction on the first `count` elements of every operand.
template <class Op, class D, class... S>
void RunCount(const char* name, Loc loc, Op op, int32_t count, const LocalTensor<D>& dst,
              const LocalTensor<S>&... src) {
  Core& core = ThisCore();
  if constexpr (kObserved) EmitCount(core, name, loc, HowOf<Op, D, S...>(), count, dst, src...);
  if constexpr (kFromZero<Op, D>) (KeepNegative(name, loc, static_cast<uint32_t>(count), dst.Data(), src.Data()), ...);
  OverflowWatch<D> watch;
  if constexpr (kWatched<D, Op>) {
    watch.trusted = FiniteScalar(op);
    (watch.Before(dst.Data(), static_cast<uint32_t>(count), src.Data()), ...);
  }
  ForContiguous(static_cast<uint32_t>(count), op, dst.Data(), src.Data()...);
  RaiseIfSilent<Op>(static_cast<uint32_t>(count), dst.Data());
  if constexpr (kLeavesNumbers<Op>) core.nans.AtLeast(NanOrigins::Once);
  if constexpr (kWatched<D, Op>) watch.After(name, loc, dst.Data(), 0, static_cast<uint32_t>(count), src.Data()...);
  WithFinish<D, Op>(
      core, [&](Finish finish) { ForContiguous(static_cast<uint32_t>(count), finish, dst.Data(), dst.Data()); });
  ResetMaskRegister(core);
}

// Computes the lanes of any plan. The forms with a mask share one copy of this function.
template <class Op, class D, class... S>
GNT_NOINLINE void ComputePlan(const char* name, Loc loc, Op op, const Plan& plan, Arg<D> dst, Arg<S>... src) {
  // Only contiguous lanes are watched, because otherwise the stores of later repeats would hide the overflow.
  const bool watched =
      kWatched<D, Op> && plan.IsOneRun(dst.strides, sizeof(D)) && (plan.IsOneRun(src.strides, sizeof(S)) && ...);
  if constexpr (kFromZero<Op, D>) {
    if (plan.IsOneRun(dst.strides, sizeof(D)) && (plan.IsOneRun(src.strides, sizeof(S)) && ...))
      (KeepNegative(name, loc, static_cast<uint32_t>(plan.Lanes()), dst.tensor.Data(), src.tensor.Data()), ...);
  }
  OverflowWatch<D> watch;
  if (watched) {
    watch.trusted = FiniteScalar(op);
    (watch.Before(dst.tensor.Data(), static_cast<uint32_t>(plan.Lanes()), src.tensor.Data()), ...);
  }
  ForLanes(plan, op, Lane<D>{dst.tensor.Data(), dst.strides}, Lane<const S>{src.tensor.Data(), src.strides}...);
  if constexpr (kLeavesNumbers<Op>) ThisCore().nans.AtLeast(NanOrigins::Once);
  if constexpr (kObserved && requires { typename Op::Silent; })
    plan.IsOneRun(dst.strides, sizeof(D)) ? RaiseIfSilent<Op>(static_cast<uint32_t>(plan.Lanes()), dst.tensor.Data())
                                          : RaiseInvalid();
  if (watched) watch.After(name, loc, dst.tensor.Data(), 0, static_cast<uint32_t>(plan.Lanes()), src.tensor.Data()...);
  WithFinish<D, Op>(ThisCore(), [&](Finish finish) {
    ForLanes(plan, finish, Lane<D>{dst.tensor.Data(), dst.strides}, Lane<const D>{dst.tensor.Data(), dst.strides});
  });
}

// Emits the instruction's event and computes the lanes of the plan.
template <class Op, class D, class... S>
[[gnu::always_inline]] inline void RunPlan(const char* name, Loc loc, Op op, const Plan& plan, Arg<D> dst,
                                           Arg<S>... src) {
  if constexpr (kObserved)
    EmitRepeats(name, loc, plan, HowOf<Op, D, S...>(), RepeatOperand{dst.tensor, dst.strides},
                RepeatOperand{src.tensor, src.strides}...);
  ComputePlan(name, loc, op, plan, dst, src...);
}

// Runs the most frequent case in loops, without a plan: repeats with all lanes active and no gaps between blocks; in an
// observed library, only a cached call whose results are not watched. Returns false, and does nothing, in any other
// case. It is short enough to be inlined in a kernel's loop, where the compiler computes much of it before the loop.
template <bool kSetMask, class Op, class Mask, class D, class... S>
[[gnu::always_inline]] inline bool RunWholeRepeats(const char* name, Loc loc, Op op, const Mask& mask, RepeatTime given,
                                                   Arg<D> dst, Arg<S>... src) {
  constexpr bool kNumber = requires { static_cast<uint64_t>(mask); };
  if constexpr (kSetMask && kNumber && ((sizeof(S) == sizeof(D)) && ...) && !kWatched<D, Op> && !kFromZero<Op, D>) {
    Core& core = ThisCore();
    const uint32_t repeats = given.OneOrMore();
    if (repeats == 0 || static_cast<uint64_t>(mask) != kLanes<D> || core.mask.counter ||
        core.job->options.repeat_order != 0 || Finishes<D, Op>(core) || dst.strides.blk != 1 ||
        ((src.strides.blk != 1) || ...)) [[unlikely]]
      return false;
    if constexpr (kObserved) {
      core.At(loc);
      if (!TryEmitWholeRepeats(core, name, loc, repeats, kLanes<D>, RepeatOperand{dst.tensor, dst.strides},
                               RepeatOperand{src.tensor, src.strides}...)) [[unlikely]]
        return false;
    }
    core.NoteMaskLost(loc);
    core.mask.unused = false;
    WriteMask(core, kLanes<D>, kLanes<D>);
    ForWholeRepeats(repeats, op, Walk<D>{dst.tensor.Data(), LaneIndex<D>(dst.strides, 1, 0)},
                    Walk<const S>{src.tensor.Data(), LaneIndex<S>(src.strides, 1, 0)}...);
    if constexpr (kLeavesNumbers<Op>) core.nans.AtLeast(NanOrigins::Once);
    return true;
  } else {
    return false;
  }
}

// Runs the mask-and-repeat form of an instruction with one source.
template <bool kSetMask, class Op, class Mask, class D, class S>
GNT_NOINLINE void RunAnyUnary(const char* name, Loc loc, Op op, const Mask& mask, RepeatTime repeats,
                              const AscendC::UnaryRepeatParams& params, const LocalTensor<D>& dst,
                              const LocalTensor<S>& src) {
  RequireStrides(name, params, loc);
  const Plan plan = MaskedPlan(name, loc, kSetMask, mask, kRepeatBytes / kWidest<D, S>, repeats);
  RunPlan(name, loc, op, plan, Arg<D>{dst, {params.dstBlkStride, params.dstRepStride}},
          Arg<S>{src, {params.srcBlkStride, params.srcRepStride}});
}
template <bool kSetMask, class Op, class Mask, class D, class S>
[[gnu::always_inline]] inline void RunUnary(const char* name, Loc loc, Op op, const Mask& mask, RepeatTime repeats,
                                            const AscendC::UnaryRepeatParams& params, const LocalTensor<D>& dst,
                                            const LocalTensor<S>& src) {
  if (!params.lost.any &&
      RunWholeRepeats<kSetMask>(name, loc, op, mask, repeats, Arg<D>{dst, {params.dstBlkStride, params.dstRepStride}},
                                Arg<S>{src, {params.srcBlkStride, params.srcRepStride}}))
    return;
  RunAnyUnary<kSetMask>(name, loc, op, mask, repeats, params, dst, src);
}

// Runs the mask-and-repeat form of an instruction with two sources.
template <bool kSetMask, class Op, class Mask, class D, class S0, class S1>
GNT_NOINLINE void RunAnyBinary(const char* name, Loc loc, Op op, const Mask& mask, RepeatTime repeats,
                               const AscendC::BinaryRepeatParams& params, const LocalTensor<D>& dst,
                               const LocalTensor<S0>& src0, const LocalTensor<S1>& src1) {
  RequireStrides(name, params, loc);
  const Plan plan = MaskedPlan(name, loc, kSetMask, mask, kRepeatBytes / kWidest<D, S0, S1>, repeats);
  RunPlan(name, loc, op, plan, Arg<D>{dst, {params.dstBlkStride, params.dstRepStride}},
          Arg<S0>{src0, {params.src0BlkStride, params.src0RepStride}},
          Arg<S1>{src1, {params.src1BlkStride, params.src1RepStride}});
}
template <bool kSetMask, class Op, class Mask, class D, class S0, class S1>
[[gnu::always_inline]] inline void RunBinary(const char* name, Loc loc, Op op, const Mask& mask, RepeatTime repeats,
                                             const AscendC::BinaryRepeatParams& params, const LocalTensor<D>& dst,
                                             const LocalTensor<S0>& src0, const LocalTensor<S1>& src1) {
  if (!params.lost.any &&
      RunWholeRepeats<kSetMask>(name, loc, op, mask, repeats, Arg<D>{dst, {params.dstBlkStride, params.dstRepStride}},
                                Arg<S0>{src0, {params.src0BlkStride, params.src0RepStride}},
                                Arg<S1>{src1, {params.src1BlkStride, params.src1RepStride}}))
    return;
  RunAnyBinary<kSetMask>(name, loc, op, mask, repeats, params, dst, src0, src1);
}

}  // namespace gn_twin
