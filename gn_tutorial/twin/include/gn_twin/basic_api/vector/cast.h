// Cast: conversion between element types with the documented rounding modes, and conversions of single numbers.
//
// Source: docs/zh/api, 类型转换/Cast and 数据结构 (precision conversion). For a (source, destination, mode) outside the table
// the device silently emits no instruction; the twin stops.
#pragma once
#include "gn_twin/basic_api/vector/forms.h"

namespace gn_twin {

using AscendC::RoundMode;

constexpr uint32_t Bit(RoundMode mode) { return 1u << static_cast<uint32_t>(mode); }
inline constexpr uint32_t kNone = Bit(RoundMode::CAST_NONE);
inline constexpr uint32_t kFive = Bit(RoundMode::CAST_RINT) | Bit(RoundMode::CAST_FLOOR) | Bit(RoundMode::CAST_CEIL) |
                                  Bit(RoundMode::CAST_ROUND) | Bit(RoundMode::CAST_TRUNC);

// Returns the rounding modes of Cast from S to D on Atlas A2, one bit each; 0 if there is no such conversion.
template <class D, class S>
constexpr uint32_t CastModes() {
  if constexpr (kSame<S, half>) {
    if constexpr (kSame<D, float>) return kNone;
    if constexpr (kOneOf<D, int8_t, uint8_t>) return kFive | kNone;
    if constexpr (kOneOf<D, int16_t, int32_t>) return kFive;
  } else if constexpr (kSame<S, float>) {
    if constexpr (kSame<D, half>) return kFive | kNone | Bit(RoundMode::CAST_ODD);
    if constexpr (kOneOf<D, bfloat16_t, int16_t, int32_t, int64_t, float>) return kFive;
  } else if constexpr (kSame<S, bfloat16_t>) {
    if constexpr (kSame<D, float>) return kNone;
    if constexpr (kSame<D, int32_t>) return kFive;
  } else if constexpr (kOneOf<S, int8_t, uint8_t>) {
    if constexpr (kSame<D, half>) return kNone;
  } else if constexpr (kSame<S, int16_t>) {
    if constexpr (kSame<D, half>) return kFive | kNone;
    if constexpr (kSame<D, float>) return kNone;
  } else if constexpr (kSame<S, int32_t>) {
    if constexpr (kSame<D, float>) return kFive | kNone;
    if constexpr (kOneOf<D, int16_t, int64_t>) return kNone;
    if constexpr (kSame<D, half>) return kFive | kNone;  // the mode is ignored; the deq scale applies
  } else if constexpr (kSame<S, int64_t>) {
    if constexpr (kSame<D, int32_t>) return kNone;
    if constexpr (kSame<D, float>) return kFive;
  }
  return 0;
}

// Returns x rounded to an integral value. x is exact, because a double holds every source type except int64, which does
// not come here.
template <RoundMode kMode>
inline double RoundDouble(double x) {
  if constexpr (kMode == RoundMode::CAST_FLOOR) return __builtin_floor(x);
  if constexpr (kMode == RoundMode::CAST_CEIL) return __builtin_ceil(x);
  if constexpr (kMode == RoundMode::CAST_TRUNC) return __builtin_trunc(x);
  if constexpr (kMode == RoundMode::CAST_ROUND) {
    const double whole = __builtin_trunc(x);
    return __builtin_fabs(x - whole) >= 0.5 ? whole + __builtin_copysign(1.0, x) : whole;
  }
  return __builtin_rint(x);  // CAST_RINT, CAST_NONE: ties to even, the mode a process starts in
}

// Returns x as an integer. A number out of range saturates; NaN becomes 0.
template <class D, RoundMode kMode>
inline D IntegerFrom(double x) {
  constexpr bool kUnsigned = kSame<D, uint8_t>;
  constexpr double kHigh = static_cast<double>(uint64_t{1} << (8 * sizeof(D) - (kUnsigned ? 0 : 1)));
  constexpr double kLow = kUnsigned ? 0.0 : -kHigh;
  const double rounded = RoundDouble<kMode>(x);
  if (rounded != rounded) return D(0);
  if (rounded >= kHigh) return static_cast<D>(kUnsigned ? 0xff : (uint64_t{1} << (8 * sizeof(D) - 1)) - 1);
  if (rounded < kLow) return static_cast<D>(kLow);
  return static_cast<D>(static_cast<int64_t>(rounded));
}

// Rounds the significand of a finite float so that its low `drop` bits become zero. `magnitude` has the float's bits
// without the sign, or only those of the significand. A carry into the exponent gives the next larger float.
template <RoundMode kMode>
inline uint32_t DropBits(uint32_t magnitude, bool negative, uint32_t drop) {
  const uint32_t unit = 1u << drop;
  const uint32_t rest = magnitude & (unit - 1);
  const uint32_t down = magnitude - rest;
  if (rest == 0) return down;
  if constexpr (kMode == RoundMode::CAST_TRUNC) return down;
  if constexpr (kMode == RoundMode::CAST_FLOOR) return negative ? down + unit : down;
  if constexpr (kMode == RoundMode::CAST_CEIL) return negative ? down : down + unit;
  if constexpr (kMode == RoundMode::CAST_ODD) return down | unit;
  if constexpr (kMode == RoundMode::CAST_ROUND) return rest >= unit / 2 ? down + unit : down;
  const bool up = rest > unit / 2 || (rest == unit / 2 && (down & unit) != 0);
  return up ? down + unit : down;
}

template <RoundMode kMode>
inline half HalfFromFloat(float value) {
  if constexpr (kMode == RoundMode::CAST_NONE || kMode == RoundMode::CAST_RINT) return half(value);
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) return half(value);
  // Subnormal halves are multiples of 2^-24, so more bits fall away for exponents below -14.
  const uint32_t exponent = magnitude >> 23;
  uint32_t drop = 13;
  if (exponent < 113) drop += 113 - exponent;
  if (drop > 24) {  // less than half the spacing of subnormals: only the mode decides
    if (magnitude == 0) return half(value);
    const bool negative = bits >> 31;
    bool away = kMode == RoundMode::CAST_ODD || (kMode == RoundMode::CAST_FLOOR && negative) ||
                (kMode == RoundMode::CAST_CEIL && !negative);
    return half::FromBits(static_cast<uint16_t>((bits >> 16 & 0x8000u) | (away ? 1u : 0u)));
  }
  uint32_t rounded;
  if (exponent < 113) {  // fixed point in units of 2^-24
    const uint32_t significand = (magnitude & 0x7fffffu) | (exponent != 0 ? 0x800000u : 0);
    rounded = DropBits<kMode>(significand, bits >> 31, drop) >> drop;
    return half::FromBits(static_cast<uint16_t>((bits >> 16 & 0x8000u) | rounded));
  }
  rounded = DropBits<kMode>(magnitude, bits >> 31, drop);
  if (rounded >= 0x47800000u) {  // past 65504: infinity if the mode rounds away from zero, else the largest half
    const bool away = kMode == RoundMode::CAST_ROUND || (kMode == RoundMode::CAST_FLOOR && bits >> 31) ||
                      (kMode == RoundMode::CAST_CEIL && !(bits >> 31));
    return half::FromBits(static_cast<uint16_t>((bits >> 16 & 0x8000u) | (away ? 0x7c00u : 0x7bffu)));
  }
  return half(__builtin_bit_cast(float, rounded | (bits & 0x80000000u)));
}

template <RoundMode kMode>
inline bfloat16_t Bfloat16FromFloat(float value) {
  if constexpr (kMode == RoundMode::CAST_RINT) return bfloat16_t(value);
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  if ((bits & 0x7fffffffu) >= 0x7f800000u) return bfloat16_t(value);
  const uint32_t rounded = DropBits<kMode>(bits & 0x7fffffffu, bits >> 31, 16) | (bits & 0x80000000u);
  return __builtin_bit_cast(bfloat16_t, static_cast<uint16_t>(rounded >> 16));
}

// Returns an int64 rounded to float. The function does not use RoundDouble, because a double cannot hold every int64.
template <RoundMode kMode>
inline float FloatFromInt64(int64_t value) {
  const float nearest = static_cast<float>(value);
  if constexpr (kMode == RoundMode::CAST_RINT || kMode == RoundMode::CAST_NONE) return nearest;
  if (nearest >= 9223372036854775808.0f) {
    constexpr float kBelow = 9223371487098961920.0f;  // the float before 2^63
    return kMode == RoundMode::CAST_CEIL || kMode == RoundMode::CAST_ROUND ? nearest : kBelow;
  }
  const int64_t back = static_cast<int64_t>(nearest);
  if (back == value) return nearest;
  const float low = back < value ? nearest : __builtin_nextafterf(nearest, -__builtin_inff());
  const float high = back < value ? __builtin_nextafterf(nearest, __builtin_inff()) : nearest;
  if constexpr (kMode == RoundMode::CAST_FLOOR) return low;
  if constexpr (kMode == RoundMode::CAST_CEIL) return high;
  if constexpr (kMode == RoundMode::CAST_TRUNC) return value < 0 ? high : low;
  const int64_t to_low = value - static_cast<int64_t>(low);
  const int64_t to_high = static_cast<int64_t>(high) - value;
  return to_low == to_high ? (value < 0 ? low : high) : nearest;  // CAST_ROUND: ties away from zero
}

// Casts one element. S and D are a documented pair.
template <class D, class S, RoundMode kMode>
struct CastOp {
  float scale = 1.0f;  // used by int32 to half only
  D operator()(S value) const {
    if constexpr (kSame<S, float> && kSame<D, half>) {
      return HalfFromFloat<kMode>(value);
    } else if constexpr (kSame<S, float> && kSame<D, bfloat16_t>) {
      return Bfloat16FromFloat<kMode>(value);
    } else if constexpr (kSame<S, float> && kSame<D, float>) {
      return static_cast<float>(RoundDouble<kMode>(value));
    } else if constexpr (kSame<S, int64_t> && kSame<D, float>) {
      return FloatFromInt64<kMode>(value);
    } else if constexpr (kSame<S, int32_t> && kSame<D, float>) {
      return FloatFromInt64<kMode>(value);
    } else if constexpr (kSame<S, int32_t> && kSame<D, half>) {
      return half(static_cast<float>(value) * scale);
    } else if constexpr (kSame<S, int16_t> && kSame<D, half>) {
      return HalfFromFloat<kMode>(static_cast<float>(value));
    } else if constexpr (kOneOf<D, half, float>) {  // exact widenings
      return D(static_cast<float>(value));
    } else if constexpr (kOneOf<S, half, float, bfloat16_t>) {
      return IntegerFrom<D, kMode>(static_cast<double>(static_cast<float>(value)));
    } else if constexpr (sizeof(D) > sizeof(S)) {
      return static_cast<D>(value);
    } else {  // int32 to int16, int64 to int32: saturate
      constexpr int64_t kMax = (int64_t{1} << (8 * sizeof(D) - 1)) - 1;
      return static_cast<D>(value > kMax ? kMax : (value < -kMax - 1 ? -kMax - 1 : value));
    }
  }
};

// Whether T or U is int4b_t (cast_int4.h).
template <class T, class U>
inline constexpr bool kPairs = kOneOf<AscendC::int4b_t, T, U>;

inline const char* NameOf(RoundMode mode) {
  constexpr const char* kNames[] = {"CAST_NONE",  "CAST_RINT",  "CAST_FLOOR", "CAST_CEIL",
                                    "CAST_ROUND", "CAST_TRUNC", "CAST_ODD"};
  return static_cast<uint32_t>(mode) < 7 ? kNames[static_cast<uint32_t>(mode)] : "an unknown mode";
}

// Writes the names of modes, which are bits as in CastModes, with commas between them.
GNT_COLD inline const char* NamesOf(uint32_t modes, char (&text)[96]) {
  text[0] = '\0';
  for (uint32_t mode = 0; mode < 7; ++mode) {
    if ((modes >> mode & 1) == 0) continue;
    __builtin_strcat(text, text[0] == '\0' ? "" : ", ");
    __builtin_strcat(text, NameOf(static_cast<RoundMode>(mode)));
  }
  return text;
}

// Calls run(op) with the operation of a mode that is known only at run time. If S to D has no such mode, an observed
// library stops, and a bare one does nothing. For int32 to half an observed library also asks for a scale.
template <class D, class S, RoundMode... kModes, class Run>
inline void WithMode(RoundMode mode, Loc loc, Run run) {
  Core& core = ThisCore();
  static_assert(CastModes<D, S>() != 0,
                "Cast on Atlas A2 does not convert between these two types directly; go through half or float");
  if constexpr (kSame<S, int32_t> && kSame<D, half>) {
    if (kObserved && !core.deq_scale_set) core.Refuse("cast-no-deq-scale", loc, {});
  }
  bool done = false;
  const auto attempt = [&]<RoundMode kMode>() {
    if constexpr ((CastModes<D, S>() & Bit(kMode)) != 0) {
      if (mode == kMode) {
        run(CastOp<D, S, kMode>{core.deq_scale});
        done = true;
      }
    }
  };
  (attempt.template operator()<kModes>(), ...);
  if (!done && kObserved) {
    char modes[96];
    core.Stop("cast-unsupported", loc,
              {{"source", TypeName<S>()},
               {"destination", TypeName<D>()},
               {"mode", NameOf(mode)},
               {"modes", NamesOf(CastModes<D, S>(), modes)}});
  }
}
template <class D, class S, class Run>
inline void WithCast(RoundMode mode, Loc loc, Run run) {
  WithMode<D, S, RoundMode::CAST_NONE, RoundMode::CAST_RINT, RoundMode::CAST_FLOOR, RoundMode::CAST_CEIL,
           RoundMode::CAST_ROUND, RoundMode::CAST_TRUNC, RoundMode::CAST_ODD>(mode, loc, run);
}

// Runs the form with a count.
template <class D, class S>
void CastCount(Loc loc, const LocalTensor<D>& dst, const LocalTensor<S>& src, RoundMode mode, uint32_t count) {
  WithCast<D, S>(mode, loc, [&](auto op) { RunCount("Cast", loc, op, static_cast<int32_t>(count), dst, src); });
}

}  // namespace gn_twin

namespace AscendC {

template <class T, class U>
  requires(!gn_twin::kPairs<T, U>)
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint32_t count,
                 gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::CastCount(loc, dst, src, roundMode, count);
}
// A repeat has as many lanes as 256 bytes hold of the wider type. So half to float has 64 lanes, and contiguous repeats
// have the repeat strides 8 (destination) and 4 (source).
template <class T, class U, bool isSetMask = true, class Mask>
  requires(gn_twin::kIsConstMask<Mask> && !gn_twin::kPairs<T, U>)
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, Mask mask,
                 const gn_twin::RepeatTime repeatTime, const UnaryRepeatParams& repeatParams,
                 gn_twin::Loc loc = gn_twin::Loc::here()) {
  gn_twin::WithCast<T, U>(roundMode, loc, [&](auto op) {
    gn_twin::RunUnary<isSetMask>("Cast", loc, op, mask, repeatTime, repeatParams, dst, src);
  });
}

// Sets the scale of Cast from int32_t to half. On the device the scale is undefined before the first call.
inline void SetDeqScale(half scale) {
  gn_twin::Core& core = gn_twin::ThisCore();
  core.deq_scale = static_cast<float>(scale);
  core.deq_scale_set = true;
}

// Scalar conversions.
constexpr bfloat16_t ToBfloat16(const float& value) { return bfloat16_t(value); }
constexpr float ToFloat(const bfloat16_t& value) { return static_cast<float>(value); }
constexpr bfloat16_t Cast(const float& value) { return bfloat16_t(value); }
constexpr float Cast(const bfloat16_t& value) { return static_cast<float>(value); }
template <class T, class U, RoundMode roundMode>
inline U ScalarCast(T value) {
  return gn_twin::CastOp<U, T, roundMode>{}(value);
}
template <class T, class U, RoundMode roundMode>
inline U Cast(T value) {
  return gn_twin::CastOp<U, T, roundMode>{}(value);
}

}  // namespace AscendC
