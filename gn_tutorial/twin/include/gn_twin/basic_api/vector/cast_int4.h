// Cast between half and int4b_t, whose elements are half a byte.
//
// Source: docs/zh/api, 类型转换/Cast. half to int4b_t takes every mode but CAST_ODD and saturates; int4b_t to half takes
// CAST_NONE. Whole bytes are written, so counts must be even and mask bits equal in pairs. A repeat is 128 lanes: 256
// bytes of half, 64 of int4b_t.
#pragma once
#include "gn_twin/basic_api/vector/cast.h"

namespace gn_twin {

using AscendC::int4b_t;

inline float FromInt4(uint8_t pair, uint32_t which) {
  const int32_t bits = which == 0 ? pair & 15 : pair >> 4;
  return static_cast<float>(bits < 8 ? bits : bits - 16);
}
template <RoundMode kMode>
uint8_t ToInt4(half value) {
  const double rounded = RoundDouble<kMode>(static_cast<float>(value));
  const double kept = rounded != rounded ? 0.0 : (rounded > 7.0 ? 7.0 : (rounded < -8.0 ? -8.0 : rounded));
  return static_cast<uint8_t>(static_cast<int32_t>(kept) & 15);
}
inline uint8_t ToInt4(half value, RoundMode mode) {
  switch (mode) {
    case RoundMode::CAST_FLOOR: return ToInt4<RoundMode::CAST_FLOOR>(value);
    case RoundMode::CAST_CEIL: return ToInt4<RoundMode::CAST_CEIL>(value);
    case RoundMode::CAST_ROUND: return ToInt4<RoundMode::CAST_ROUND>(value);
    case RoundMode::CAST_TRUNC: return ToInt4<RoundMode::CAST_TRUNC>(value);
    default: return ToInt4<RoundMode::CAST_RINT>(value);
  }
}

// Returns the offset of lane `lane` of a repeat: in elements for half, in bytes for int4b_t.
template <class T>
uint64_t PairLane(Strides strides, uint32_t repeat, uint32_t lane) {
  constexpr uint32_t kPerBlock = ElementsIn<T>(kBlockBytes);
  const uint64_t block = uint64_t{repeat} * strides.rep + uint64_t{lane / kPerBlock} * strides.blk;
  return block * kBlockBytes / sizeof(T) + lane % kPerBlock / kPerByte<T>;
}

template <class D, class S>
void RequireInt4Mode(RoundMode mode, Loc loc) {
  static_assert((kSame<D, int4b_t> && kSame<S, half>) || (kSame<D, half> && kSame<S, int4b_t>),
                "Cast on Atlas A2 does not convert between these two types directly; go through half");
  const bool known = kSame<D, half> ? mode == RoundMode::CAST_NONE
                                    : static_cast<uint32_t>(mode) <= static_cast<uint32_t>(RoundMode::CAST_TRUNC);
  if (!known) {
    ThisCore().Stop("cast-unsupported", loc,
                    {{"source", kSame<S, half> ? "half" : "int4b_t"},
                     {"destination", kSame<D, half> ? "half" : "int4b_t"},
                     {"mode", NameOf(mode)}});
  }
}

// Adds an operand with the bytes that it touches: one row per repeat if each repeat is contiguous, all are equally long
// and there are gaps between them; else one range from the first byte to the last.
template <class T>
void AddPairs(Operation& operation, const char* role, const LocalTensor<T>& tensor, const Plan& plan, Strides strides,
              Access access) {
  const uint32_t reach = plan.Reach();
  if (plan.repeats == 0 || reach == 0) {
    operation.Local(role, tensor, 0, access);
    return;
  }
  const uint64_t pitch = uint64_t{strides.rep} * kBlockBytes;
  const uint64_t row = PairLane<T>(strides, 0, reach - 1) * sizeof(T) + BytesOf<T>(kPerByte<T>);
  const uint64_t last =
      plan.prefix && plan.last > 0 ? PairLane<T>(strides, 0, plan.last - 1) * sizeof(T) + BytesOf<T>(kPerByte<T>) : row;
  operation.Local(role, tensor, (plan.repeats - 1) * pitch + last, access);
  if (plan.repeats > 1 && last == row && pitch > row && strides.blk == 1) operation.Rows(plan.repeats, row, pitch);
}

template <class D, class S>
void RunCastPairs(Loc loc, RoundMode mode, const Plan& plan, const LocalTensor<D>& dst, Strides to,
                  const LocalTensor<S>& src, Strides from) {
  RequireInt4Mode<D, S>(mode, loc);
  bool even = (plan.first | plan.last) % 2 == 0;
  if (!plan.prefix)
    even = (((plan.low >> 1) ^ plan.low) & 0x5555555555555555u) == 0 &&
           (((plan.high >> 1) ^ plan.high) & 0x5555555555555555u) == 0;
  if (!even) ThisCore().Stop("cast-int4-odd", loc, {{"lanes", plan.Lanes()}});
  if constexpr (kObserved) {
    EmitOperation("Cast", Kind::Vector, Pipe::V, loc, [&](Operation& operation) {
      AddPairs(operation, "dst", dst, plan, to, Access::Write);
      AddPairs(operation, "src", src, plan, from, Access::Read);
      return operation.Emit(plan.Lanes(), plan.repeats, sizeof(half));
    });
  }
  for (uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    for (uint32_t lane = 0; lane < plan.lanes; lane += 2) {
      if (plan.prefix ? lane >= plan.ActiveIn(repeat) : !plan.Active(lane)) continue;
      if constexpr (kSame<D, int4b_t>) {
        const half* at = src.Data() + PairLane<S>(from, repeat, lane);
        dst.Data()[PairLane<D>(to, repeat, lane)].pair =
            static_cast<uint8_t>(ToInt4(at[0], mode) | ToInt4(at[1], mode) << 4);
      } else {
        const uint8_t pair = src.Data()[PairLane<S>(from, repeat, lane)].pair;
        half* at = dst.Data() + PairLane<D>(to, repeat, lane);
        at[0] = half(FromInt4(pair, 0));
        at[1] = half(FromInt4(pair, 1));
      }
    }
  }
}

}  // namespace gn_twin

namespace AscendC {

template <class T, class U>
  requires gn_twin::kPairs<T, U>
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint32_t count,
                 gn_twin::Loc loc = gn_twin::Loc::here()) {
  constexpr gn_twin::Strides kHalf{1, 8};
  constexpr gn_twin::Strides kInt4{1, 2};
  gn_twin::RunCastPairs(loc, roundMode, gn_twin::LeadingPlan<half>(count), dst, gn_twin::kSame<T, half> ? kHalf : kInt4,
                        src, gn_twin::kSame<U, half> ? kHalf : kInt4);
  gn_twin::ResetMaskRegister(gn_twin::ThisCore());
}
template <class T, class U, bool isSetMask = true, class Mask>
  requires(gn_twin::kIsConstMask<Mask> && gn_twin::kPairs<T, U>)
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, Mask mask,
                 const gn_twin::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams,
                 gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::RequireStrides("Cast", repeatParams, loc);
  const gn_twin::Plan plan = gn_twin::MaskedPlan("Cast", loc, isSetMask, mask, gn_twin::kLanes<half>, repeatTime);
  gn_twin::RunCastPairs(loc, roundMode, plan, dst, {repeatParams.dstBlkStride, repeatParams.dstRepStride}, src,
                        {repeatParams.srcBlkStride, repeatParams.srcRepStride});
}

}  // namespace AscendC
