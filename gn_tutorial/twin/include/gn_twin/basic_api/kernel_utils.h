// Small helpers that kernels expect from their header: block_idx, DivCeil, IsSameType, likely, ASCENDC_ASSERT,
// KERNEL_LOG, and min and max of mixed types.
//
// Source: public kernels, which use them without a declaration (they are built-ins of the device's compiler, or
// utilities of CANN).
#pragma once
#include <cstdint>  // std::int8_t and so on
#include <type_traits>

#include "gn_twin/basic_api/debug.h"
#include "gn_twin/basic_api/system.h"

namespace gn_twin {

// The types of block_idx and block_num. The device's compiler defines these names, and every block may read them at any
// time. Here they are objects, not macros, because kernels declare variables of the same names.
struct BlockIndex {
  operator int64_t() const { return AscendC::GetBlockIdx(); }
};
struct BlockCount {
  operator int64_t() const { return AscendC::GetBlockNum(); }
};

// An integer or enum of any type, as 32 bits: the parameter type of AlignUp, Ceil and ConstCeil. A call converts its
// arguments to it, so overload resolution prefers a kernel's own function of the same name.
struct Unsigned {
  uint32_t number;
  template <class T>
    requires(std::is_integral_v<T> || std::is_enum_v<T>)
  constexpr Unsigned(T value) : number(static_cast<uint32_t>(value)) {}
};

}  // namespace gn_twin

inline constexpr gn_twin::BlockIndex block_idx;
inline constexpr gn_twin::BlockCount block_num;

// Type traits in CANN's namespace. They are in no other namespace, because public kernels define an is_same of their
// own outside any namespace.
namespace AscendC::Std {
using namespace std;

// Source: docs/zh/api, Utils-API/CPP标准库/算法. The second type is reserved and must be the same as the first.
template <class T, class U>
constexpr auto min(const T& a, const U& b) {
  static_assert(is_same_v<T, U>, "Std::min compares numbers of one type");
  return b < a ? b : a;
}
template <class T, class U>
constexpr auto max(const T& a, const U& b) {
  static_assert(is_same_v<T, U>, "Std::max compares numbers of one type");
  return a < b ? b : a;
}
}  // namespace AscendC::Std

namespace AscendC {

template <bool condition, class Yes, class No>
using Conditional = std::conditional<condition, Yes, No>;
template <class A, class B>
struct IsSameType : std::is_same<A, B> {};

// Integer division rounded up. A divisor of 0 gives 0, as host code of public kernels expects.
template <class T, class U>
constexpr auto DivCeil(T value, U divisor) {
  return divisor == 0 ? decltype(value / divisor)(0) : (value + divisor - 1) / divisor;
}
// AlignUp returns `value` rounded up to a multiple of `unit`; Ceil and ConstCeil return quotients rounded up. All
// return 0 if the second argument is 0. A kernel's own functions of these names take precedence.
constexpr uint32_t AlignUp(gn_twin::Unsigned value, gn_twin::Unsigned unit) {
  return DivCeil(value.number, unit.number) * unit.number;
}
constexpr uint32_t Ceil(gn_twin::Unsigned value, gn_twin::Unsigned divisor) {
  return DivCeil(value.number, divisor.number);
}
constexpr uint32_t ConstCeil(gn_twin::Unsigned value, gn_twin::Unsigned divisor) {
  return DivCeil(value.number, divisor.number);
}

}  // namespace AscendC

// On the device min and max are built-ins that accept two different integer types.
template <class A, class B>
  requires(!gn_twin::kSame<A, B> && requires(A a, B b) { (a << 1) < (b << 1); })
constexpr auto min(A a, B b) -> decltype(a + b) {
  using Common = decltype(a + b);
  return static_cast<Common>(a) < static_cast<Common>(b) ? static_cast<Common>(a) : static_cast<Common>(b);
}
template <class A, class B>
  requires(!gn_twin::kSame<A, B> && requires(A a, B b) { (a << 1) < (b << 1); })
constexpr auto max(A a, B b) -> decltype(a + b) {
  using Common = decltype(a + b);
  return static_cast<Common>(a) < static_cast<Common>(b) ? static_cast<Common>(b) : static_cast<Common>(a);
}
template <class A>
  requires requires(A a) { a << 1; }
constexpr A min(A a, A b) {
  return b < a ? b : a;
}
template <class A>
  requires requires(A a) { a << 1; }
constexpr A max(A a, A b) {
  return a < b ? b : a;
}
inline float min(float a, float b) { return b < a ? b : a; }
inline float max(float a, float b) { return a < b ? b : a; }

// Hints to the compiler about branches, and prefetching of instructions: neither changes a result.
#ifndef likely
#define likely(...) __builtin_expect(static_cast<bool>(__VA_ARGS__), 1)
#endif
#ifndef unlikely
#define unlikely(...) __builtin_expect(static_cast<bool>(__VA_ARGS__), 0)
#endif
#define PRELOAD(LENGTH) static_cast<void>(LENGTH)

#define KERNEL_ERROR "error"
#define KERNEL_WARN "warning"
#define KERNEL_INFO "info"
#define KERNEL_DEBUG "debug"
#define KERNEL_LOG(LEVEL, ...) AscendC::printf(__VA_ARGS__)
// debug.h defines ASCENDC_ASSERT before, so this form is not used. It executes the second argument if the condition
// does not hold; then the launch stops, as in CANN's CPU build.
#ifndef ASCENDC_ASSERT
#define ASCENDC_ASSERT(CONDITION, ...)   \
  do {                                   \
    if (!(CONDITION)) {                  \
      __VA_ARGS__;                       \
      gn_twin::AssertFailed(#CONDITION); \
    }                                    \
  } while (0)
#endif
