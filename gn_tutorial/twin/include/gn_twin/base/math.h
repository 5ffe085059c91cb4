// Exponential, logarithm and square root. They use IEEE arithmetic (the first two in double) and no libm, so their bits
// are the same on every compiler and machine.
//
// The device computes Exp and Ln with tables. The bits of its results are not public, and the documentation gives no
// error bound. ExpFloat and LnFloat are within 0.51 units in the last place of float (tests/twin/test_unary.py measures
// this).
#pragma once
#include <stdint.h>

namespace gn_twin {

// Returns e^x: x = k ln 2 + r, |r| <= ln 2 / 2, and the Taylor series of e^r goes to r^11 (remainder below 7e-15).
inline float ExpFloat(float value) {
  const double x = value;
  // Outside [-110, 90] the float result is 0 or infinity; clamping keeps the exponent arithmetic below in range.
  const double clamped = x < -110.0 ? -110.0 : (x > 90.0 ? 90.0 : x);
  const double shifted =
      clamped * 1.4426950408889634 + 6755399441055744.0;  // 1.5 * 2^52: rounds to an integer in the low bits
  const double k = shifted - 6755399441055744.0;
  const double r = clamped - k * 0.6931471805599453;
  double p = 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const int64_t exponent = static_cast<int64_t>(__builtin_bit_cast(uint64_t, shifted)) << 52;
  const double result = __builtin_bit_cast(double, __builtin_bit_cast(int64_t, p) + exponent);
  return value != value ? value : static_cast<float>(result);
}

// Returns ln x: x = m 2^e, m in [sqrt(1/2), sqrt(2)), and ln m = 2 artanh s, s = (m - 1) / (m + 1), to s^17 (remainder
// below 1e-14).
inline float LnFloat(float value) {
  const double x = value;
  const int64_t bits = __builtin_bit_cast(int64_t, x);
  // If the bits of sqrt(1/2) are subtracted, the exponent field counts from there, so m is in the interval above.
  const int64_t e = (bits - 0x3fe6a09e667f3bcd) >> 52;
  const double m = __builtin_bit_cast(double, bits - (e << 52));
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  p = p * z + 1.0;
  const double result = static_cast<double>(static_cast<int32_t>(e)) * 0.6931471805599453 + 2.0 * s * p;
  const float finite = static_cast<float>(result);
  const float infinity = __builtin_inff();
  const float negative = value == 0.0f ? -infinity : __builtin_nanf("");
  return value > 0.0f ? (value == infinity ? value : finite) : (value != value ? value : negative);
}

// Returns the square root, rounded once, as IEEE 754 requires of every implementation.
inline float SqrtFloat(float value) { return __builtin_sqrtf(value); }

}  // namespace gn_twin
