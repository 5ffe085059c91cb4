// Elementary functions for the high-level API. They use IEEE double arithmetic and no libm, as gn_twin/base/math.h
// does, so their bits are the same everywhere.
//
// Every function takes and returns double and is used with arguments that are floats or halves. The relative error of a
// function is below 1e-12, so its result rounded to float is within 0.51 units in the last place
// (tests/twin/test_math_functions.py measures this). The device composes these functions from basic instructions; its
// error is larger and not documented.
#pragma once
#include <stdint.h>

#include "gn_twin/base/float_flags.h"
#include "gn_twin/base/math.h"

namespace gn_twin::elementary {

// Returns the NaN of an argument outside a function's domain, and raises the flag for it as an operation would.
inline double Outside() {
  RaiseInvalid();
  return __builtin_nan("");
}

inline constexpr double kLn2 = 0.6931471805599453;
inline constexpr double kHalfPi = 1.5707963267948966;

// Returns e^x for |x| <= 700. Outside, returns the value at the bound, which becomes zero or infinity as a float.
inline double Exp(double x) {
  const double clamped = x < -700.0 ? -700.0 : (x > 700.0 ? 700.0 : x);
  const double shifted = clamped * 1.4426950408889634 + 6755399441055744.0;  // 1.5 * 2^52: see ExpFloat
  const double k = shifted - 6755399441055744.0;
  // ln 2 in two parts. The first has 33 bits, so that its product with k is exact.
  const double r = (clamped - k * 0.6931471803691238) - k * 1.9082149292705877e-10;
  double p = 1.0 / 6227020800.0;  // 1/13!: the remainder is below 5e-18
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
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
  return x != x ? x : result;
}

// Returns e^x - 1 without cancellation. Near zero it uses a series to x^15.
inline double ExpMinus1(double x) {
  if (!(__builtin_fabs(x) < 0.35)) return Exp(x) - 1.0;
  double p = 1.0 / 15.0;
  for (int n = 14; n >= 2; --n) p = (p * x + 1.0) / n;
  return x * (p * x + 1.0);
}

// Returns 2 artanh(s) = 2 (s + s^3/3 + ...), to s^21, for |s| <= 0.25.
inline double TwoArtanh(double s) {
  const double z = s * s;
  double p = 1.0 / 21.0;
  for (int n = 19; n >= 1; n -= 2) p = p * z + 1.0 / n;
  return 2.0 * s * p;
}

// The parts of ln x, for a positive and finite x = m 2^e with m in [sqrt(1/2), sqrt(2)): the exponent e, and ln m.
struct LogParts {
  double e;
  double ln_m;
};
inline LogParts Split(double x) {
  const int64_t bits = __builtin_bit_cast(int64_t, x);
  const int64_t e = (bits - 0x3fe6a09e667f3bcd) >> 52;  // counts from sqrt(1/2): see LnFloat
  const double m = __builtin_bit_cast(double, bits - (e << 52));
  return {static_cast<double>(e), TwoArtanh((m - 1.0) / (m + 1.0))};
}

// Returns the logarithm of x to the base 2^(1 / per_octave). At powers of two it is e * per_octave, rounded once.
inline double LogScaled(double x, double per_octave) {
  if (!(x > 0.0)) return x == 0.0 ? -__builtin_inf() : Outside();
  if (x == __builtin_inf()) return x;
  const LogParts parts = Split(x);
  return parts.e * per_octave + parts.ln_m * (per_octave / kLn2);
}
inline double Ln(double x) { return LogScaled(x, kLn2); }
inline double Log2(double x) { return LogScaled(x, 1.0); }
inline double Log10(double x) { return LogScaled(x, 0.3010299956639812); }

// Returns ln(1 + x) without cancellation.
inline double LnPlus1(double x) { return __builtin_fabs(x) < 0.4 ? TwoArtanh(x / (2.0 + x)) : Ln(1.0 + x); }

// The sine and cosine of one argument. The documented range of arguments is +-65504. Outside it both are NaN, so that
// the mistake is visible.
struct SinCos {
  double sine;
  double cosine;
};
inline SinCos SinAndCos(double x) {
  if (!(__builtin_fabs(x) <= 65504.0)) return {Outside(), Outside()};
  const double k = (x * (1.0 / kHalfPi) + 6755399441055744.0) - 6755399441055744.0;
  // pi/2 in two parts. The first has 33 bits and k has 16, so that their product is exact.
  const double r = (x - k * 1.5707963267341256) - k * 6.077100506506192e-11;
  const double z = r * r;
  double s = 1.0;
  double c = 1.0;
  for (int n = 16; n >= 2; n -= 2) {
    s = 1.0 - s * z / (n * (n + 1));
    c = 1.0 - c * z / (n * (n - 1));
  }
  s *= r;
  switch (static_cast<int64_t>(k) & 3) {
    case 0: return {s, c};
    case 1: return {c, -s};
    case 2: return {-s, -c};
    default: return {-c, s};
  }
}
inline double Sin(double x) { return SinAndCos(x).sine; }
inline double Cos(double x) { return SinAndCos(x).cosine; }
inline double Tan(double x) {
  const SinCos both = SinAndCos(x);
  return both.sine / both.cosine;
}

// Returns the arc tangent. Two halvings of the angle bring the argument to tan(pi / 16) at most, for a series to t^25.
inline double Atan(double x) {
  const double size = __builtin_fabs(x);
  double t = size > 1.0 ? 1.0 / size : size;
  for (int i = 0; i < 2; ++i) t = t / (1.0 + __builtin_sqrt(1.0 + t * t));
  const double z = t * t;
  double p = 1.0 / 25.0;
  for (int n = 23; n >= 1; n -= 2) p = 1.0 / n - p * z;
  const double angle = 4.0 * t * p;
  const double result = size > 1.0 ? kHalfPi - angle : angle;
  return x != x ? x : __builtin_copysign(result, x);
}
inline double Asin(double x) { return Atan(x / __builtin_sqrt((1.0 - x) * (1.0 + x))); }
inline double Acos(double x) { return 2.0 * Atan(__builtin_sqrt((1.0 - x) / (1.0 + x))); }

inline double Sinh(double x) {
  const double m = ExpMinus1(__builtin_fabs(x));
  return __builtin_copysign(0.5 * (m + m / (m + 1.0)), x);
}
inline double Cosh(double x) {
  const double e = Exp(__builtin_fabs(x));
  return 0.5 * (e + 1.0 / e);
}
inline double Tanh(double x) {
  const double m = ExpMinus1(2.0 * __builtin_fabs(x));
  return __builtin_copysign(m / (m + 2.0), x);
}
inline double Asinh(double x) {
  const double size = __builtin_fabs(x);
  if (size > 1e10) return x != x || size == __builtin_inf() ? x : __builtin_copysign(Ln(size) + kLn2, x);
  return __builtin_copysign(LnPlus1(size + size * size / (1.0 + __builtin_sqrt(1.0 + size * size))), x);
}
inline double Acosh(double x) {
  if (x > 1e10) return x == __builtin_inf() ? x : Ln(x) + kLn2;
  const double t = x - 1.0;
  return LnPlus1(t + __builtin_sqrt(t * (t + 2.0)));
}
inline double Atanh(double x) {
  const double size = __builtin_fabs(x);
  return size > 1.0 ? Outside() : __builtin_copysign(0.5 * LnPlus1(2.0 * size / (1.0 - size)), x);
}

// Returns erf(x) = 2 / sqrt(pi) e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 / 15 + ...). Every term has the sign of x, so nothing
// cancels. From 4 on, the float nearest to erf is 1.
inline double Erf(double x) {
  if (!(__builtin_fabs(x) < 4.0)) return x != x ? x : __builtin_copysign(1.0, x);
  const double z = 2.0 * x * x;
  double sum = 1.0;
  for (int n = 129; n >= 3; n -= 2) sum = sum * z / n + 1.0;
  return 1.1283791670955126 * Exp(-x * x) * x * sum;
}
// Returns 1 - erf(x). From x = 2 on the subtraction would cancel, so the result is e^(-x^2) / sqrt(pi) divided by the
// continued fraction x + (1/2) / (x + 1 / (x + (3/2) / ...)).
inline double Erfc(double x) {
  if (!(x >= 2.0)) return x != x ? x : 1.0 - (x > -4.0 ? Erf(x) : -1.0);
  double fraction = x;
  for (int n = 100; n >= 1; --n) fraction = x + 0.5 * n / fraction;
  return 0.5641895835477563 * Exp(-x * x) / fraction;
}

// Returns the nearest integer; ties go to the even one. Adding 2^52 to the magnitude rounds it, and from 2^52 on every
// double is an integer.
inline double RoundEven(double x) {
  const double size = __builtin_fabs(x);
  if (!(size < 4503599627370496.0)) return x;
  return __builtin_copysign((size + 4503599627370496.0) - 4503599627370496.0, x);
}
inline double Trunc(double x) {
  const double near = RoundEven(x);
  return __builtin_copysign(__builtin_fabs(near) > __builtin_fabs(x) ? __builtin_fabs(near) - 1.0 : near, x);
}
inline double Floor(double x) {
  const double near = RoundEven(x);
  return near > x ? near - 1.0 : near;
}
inline double Ceil(double x) {
  const double near = RoundEven(x);
  return __builtin_copysign(near < x ? near + 1.0 : near, x);
}

// Returns x^y as C's pow does: NaN if x is negative and finite and y is not whole. Magnitudes above e^200 become
// infinity, those below e^-200 zero; both are far outside the range of float.
inline double Pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return x + y;
  const double size = __builtin_fabs(x);
  const bool whole = Trunc(y) == y;
  const bool odd = whole && Trunc(y * 0.5) != y * 0.5;
  double power;
  if (__builtin_fabs(y) == __builtin_inf()) {
    return size == 1.0 ? 1.0 : ((size > 1.0) == (y > 0.0) ? __builtin_inf() : 0.0);
  } else if (size == 0.0 || size == __builtin_inf()) {
    power = (size == 0.0) == (y > 0.0) ? 0.0 : __builtin_inf();
  } else {
    if (x < 0.0 && !whole) return Outside();
    const double exponent = y * Ln(size);
    power = exponent < -200.0 ? 0.0 : (exponent > 200.0 ? __builtin_inf() : Exp(exponent));
  }
  return odd ? __builtin_copysign(power, x) : power;
}

}  // namespace gn_twin::elementary
