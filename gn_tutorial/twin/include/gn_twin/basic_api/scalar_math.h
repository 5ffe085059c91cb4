// Functions of single numbers that the device's compiler has built in: sqrt and fabs of a float, abs.
//
// Source: public kernels, which call them without a header. The functions are templates of exact types, so that a
// kernel's own function of the same name takes precedence, and so does the C library's in a sample that includes its
// header. The device has no exp, log or pow of a scalar.
#pragma once
#include "gn_twin/base/float16.h"
#include "gn_twin/base/math.h"

template <class T>
  requires gn_twin::kSame<T, float>
inline T sqrt(T value) {
  return gn_twin::SqrtFloat(value);
}
template <class T>
  requires gn_twin::kOneOf<T, int8_t, int16_t, int32_t, int64_t, float>
constexpr T abs(T value) {
  return value < 0 ? static_cast<T>(-value) : (value == 0 ? T(0) : value);
}
template <class T>
  requires gn_twin::kSame<T, float>
constexpr T fabs(T value) {
  return __builtin_fabsf(value);
}
