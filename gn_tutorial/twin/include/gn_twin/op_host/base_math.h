// Integer arithmetic of operator repositories (Ops::Base).
//
// Source: the list of operator interfaces (aolapi), op_common, math: both operands have the same integer type; CeilDiv
// by 0 is the dividend, FloorAlign to 0 is 0. We inferred that FloorDiv treats 0 as CeilDiv, CeilAlign as FloorAlign.
#pragma once
#include <concepts>
#include <limits>

namespace Ops::Base {

template <std::integral T>
constexpr T FloorDiv(T x, T y) {
  if (y == 0) return x;
  const T quotient = static_cast<T>(x / y);
  return x % y != 0 && (x < 0) != (y < 0) ? static_cast<T>(quotient - 1) : quotient;
}

template <std::integral T>
constexpr T CeilDiv(T x, T y) {
  if (y == 0) return x;
  const T quotient = static_cast<T>(x / y);
  return x % y != 0 && (x < 0) == (y < 0) ? static_cast<T>(quotient + 1) : quotient;
}

template <std::integral T>
constexpr T FloorAlign(T x, T align) {
  return align == 0 ? T{0} : static_cast<T>(FloorDiv(x, align) * align);
}

template <std::integral T>
constexpr T CeilAlign(T x, T align) {
  return align == 0 ? T{0} : static_cast<T>(CeilDiv(x, align) * align);
}

template <std::floating_point T>
constexpr bool IsFloatEqual(T x, T y) {
  return (x < y ? y - x : x - y) <= std::numeric_limits<T>::epsilon();
}

}  // namespace Ops::Base

// The same functions in their older namespace.
namespace ops {
using Ops::Base::CeilAlign;
using Ops::Base::CeilDiv;
using Ops::Base::FloorAlign;
using Ops::Base::FloorDiv;
}  // namespace ops
