// half (1 sign, 5 exponent, 10 fraction bits) and bfloat16_t (1, 8, 7): storage types. Their arithmetic is in float.
//
// A float has 24 significant bits, at least 2 * 11 + 2. So if + - * / and sqrt of halves are computed in float and
// rounded once more to half, the result is correctly rounded (Figueroa, "When is double rounding innocuous?", SIGNUM
// 30(3), 1995).
// The conversions have no branches, only integer arithmetic and at most one float addition or multiplication. So they
// are constexpr, give the same bits with every compiler, and vectorise. All but FloatFromBfloat16Bits are always
// inlined: in a large kernel g++ otherwise called them once per element, and a Cast took eight times as long.
#pragma once
#include <stdint.h>

#include "gn_twin/base/config.h"

namespace gn_twin {

// Returns the bits of the nearest half; ties go to the even one. Overflow gives infinity; a NaN gives 0x7e00 with its
// sign.
[[gnu::always_inline]] constexpr uint16_t HalfBitsFromFloat(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const int32_t magnitude = static_cast<int32_t>(bits & 0x7fffffffu);
  // Normal halves: rebias the exponent (127 - 15 = 112) and round off 13 bits. A carry may make the result infinity.
  const int32_t normal = (magnitude - (112 << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // Subnormal halves: adding 0.5f shifts the fraction so that float's own rounding drops the right bits.
  const int32_t subnormal = __builtin_bit_cast(int32_t, __builtin_bit_cast(float, magnitude) + 0.5f) - 0x3f000000;
  const int32_t special = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
  const int32_t finite = magnitude < 0x38800000 ? subnormal : normal;  // 2^-14, the smallest normal half
  return static_cast<uint16_t>(sign | static_cast<uint32_t>(magnitude >= 0x47800000 ? special : finite));  // 2^16
}

[[gnu::always_inline]] constexpr float FloatFromHalfBits(uint16_t half) {
  const uint32_t magnitude = half & 0x7fffu;
  // Scaling by 2^112 rebiases the exponent and normalises subnormals at once; it is exact.
  const float finite = __builtin_bit_cast(float, magnitude << 13) * __builtin_bit_cast(float, 0x77800000u);
  const uint32_t bits = magnitude >= 0x7c00u ? (magnitude << 13) | 0x7f800000u : __builtin_bit_cast(uint32_t, finite);
  return __builtin_bit_cast(float, bits | (static_cast<uint32_t>(half & 0x8000u) << 16));
}

[[gnu::always_inline]] constexpr uint16_t Bfloat16BitsFromFloat(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16) | 0x40u : rounded);
}

constexpr float FloatFromBfloat16Bits(uint16_t bfloat) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(bfloat) << 16);
}

template <class A, class B>
inline constexpr bool kSame = false;
template <class A>
inline constexpr bool kSame<A, A> = true;
template <class T, class... Ts>
inline constexpr bool kOneOf = (kSame<T, Ts> || ...);

}  // namespace gn_twin

struct half {
  uint16_t bits;

  half() = default;
  [[gnu::always_inline]] constexpr half(float value) : bits(gn_twin::HalfBitsFromFloat(value)) {}
  constexpr half(double value) : half(static_cast<float>(value)) {}
  constexpr half(int value) : half(static_cast<float>(value)) {}
  constexpr half(unsigned value) : half(static_cast<float>(value)) {}
  constexpr half(long value) : half(static_cast<float>(value)) {}
  constexpr half(unsigned long value) : half(static_cast<float>(value)) {}
  [[gnu::always_inline]] constexpr operator float() const { return gn_twin::FloatFromHalfBits(bits); }

  static constexpr half FromBits(uint16_t bits) {
    half result(0.0f);
    result.bits = bits;
    return result;
  }
  constexpr half operator-() const { return FromBits(static_cast<uint16_t>(bits ^ 0x8000u)); }
  constexpr half& operator+=(half other) { return *this = half(float(*this) + float(other)); }
  constexpr half& operator-=(half other) { return *this = half(float(*this) - float(other)); }
  constexpr half& operator*=(half other) { return *this = half(float(*this) * float(other)); }
  constexpr half& operator/=(half other) { return *this = half(float(*this) / float(other)); }
};

// Arithmetic of two halves gives a rounded half. The operators are templates of the exact type, so that `half + float`
// stays a float.
#define GNT_HALF_OPERATOR(SIGN)                                  \
  template <class A, class B>                                    \
    requires(gn_twin::kSame<A, half> && gn_twin::kSame<B, half>) \
  constexpr half operator SIGN(A a, B b) {                       \
    return half(float(a) SIGN float(b));                         \
  }
GNT_HALF_OPERATOR(+)
GNT_HALF_OPERATOR(-)
GNT_HALF_OPERATOR(*)
GNT_HALF_OPERATOR(/)
#undef GNT_HALF_OPERATOR

using float16_t = half;
using float32_t = float;

// This architecture has no bfloat16 arithmetic: convert with ToFloat and ToBfloat16, or Cast whole tensors.
struct bfloat16_t {
  uint16_t bits;

  bfloat16_t() = default;
  [[gnu::always_inline]] explicit constexpr bfloat16_t(float value) : bits(gn_twin::Bfloat16BitsFromFloat(value)) {}
  // For literals, because kernel templates write `T zero = 0` for every T. An int or a double is first rounded to
  // float.
  constexpr bfloat16_t(double value) : bfloat16_t(static_cast<float>(value)) {}
  constexpr bfloat16_t(int value) : bfloat16_t(static_cast<float>(value)) {}
  constexpr bfloat16_t(unsigned value) : bfloat16_t(static_cast<float>(value)) {}
  constexpr bfloat16_t(long value) : bfloat16_t(static_cast<float>(value)) {}
  constexpr bfloat16_t(unsigned long value) : bfloat16_t(static_cast<float>(value)) {}
  explicit constexpr operator float() const { return gn_twin::FloatFromBfloat16Bits(bits); }
};

// The device's compiler has this second name for the type. In the host's compiler the name may mean another type.
#define __bf16 bfloat16_t

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2);

namespace gn_twin {

template <class T>
inline constexpr bool kIsFloat = kOneOf<T, half, float, bfloat16_t>;

}  // namespace gn_twin
