// The processor's flags of floating-point operations without a finite result: invalid operations, which make NaN from
// numbers (0 / 0, infinity minus infinity, the root of a negative number), divisions by zero, and overflows. A flag
// stays set until it is cleared. Looking at the flags costs a few cycles, whatever the number of operations was.
//
// An operation may set a flag although it has an ordinary result (a comparison with NaN does), so a set flag is a reason
// to look at the results. WebAssembly has no flags: there every result has to be looked at.
#pragma once
#include <stdint.h>

namespace gn_twin {

#if defined(__x86_64__)
inline constexpr bool kHasFloatFlags = true;
inline uint32_t FloatFlags() {
  uint32_t word;
  asm volatile("stmxcsr %0" : "=m"(word) : : "memory");
  return word;
}
inline void SetFloatFlags(uint32_t word) { asm volatile("ldmxcsr %0" : : "m"(word) : "memory"); }
inline constexpr uint32_t kInvalid = 0x1, kNotFinite = 0xd, kAllFloatFlags = 0x3f;
#elif defined(__aarch64__)
inline constexpr bool kHasFloatFlags = true;
inline uint32_t FloatFlags() {
  uint64_t word;
  asm volatile("mrs %0, fpsr" : "=r"(word) : : "memory");
  return static_cast<uint32_t>(word);
}
inline void SetFloatFlags(uint32_t word) { asm volatile("msr fpsr, %0" : : "r"(uint64_t{word}) : "memory"); }
inline constexpr uint32_t kInvalid = 0x1, kNotFinite = 0x7, kAllFloatFlags = 0x9f;
#else
inline constexpr bool kHasFloatFlags = false;
inline uint32_t FloatFlags() { return 1; }
inline void SetFloatFlags(uint32_t) {}
inline constexpr uint32_t kInvalid = 0x1, kNotFinite = 0x1, kAllFloatFlags = 0x1;
#endif

// Whether an operation since the last ClearFloatFlags may have made NaN or infinity.
[[gnu::always_inline]] inline bool MayBeNotFinite() { return (FloatFlags() & kNotFinite) != 0; }
inline void ClearFloatFlags() { SetFloatFlags(FloatFlags() & ~kAllFloatFlags); }
// Sets the flag of an invalid operation, for functions whose NaN is a constant.
inline void RaiseInvalid() { SetFloatFlags(FloatFlags() | kInvalid); }

inline bool FiniteFloat(float value) { return value - value == 0.0f; }

}  // namespace gn_twin
