// What variables hold that a kernel gave no value: observed libraries are compiled with -ftrivial-auto-var-init=pattern
// (gn_tutorial/compiler/toolchain.py), so that such a variable is never right by chance, and can be told by its bytes.
//
// g++ fills them with bytes 0xFE, clang with 0xAA, floating-point numbers with 0xFF.
#pragma once
#include <stdint.h>

#include <initializer_list>

#include "gn_twin/base/config.h"

namespace gn_twin {

#ifdef __clang__
inline constexpr uint32_t kWildInteger = 0xaaaaaaaa;
inline constexpr uint32_t kWildFloat = 0xffffffff;
#else
inline constexpr uint32_t kWildInteger = 0xfefefefe;
inline constexpr uint32_t kWildFloat = 0xfefefefe;
#endif

// A floating-point scalar without a value. Integers are not looked at: 0xAAAAAAAA is every second bit.
template <class T>
inline bool IsWild(const T& value) {
  if constexpr (__is_same(T, float)) {
    return __builtin_bit_cast(uint32_t, value) == kWildFloat;
  } else {
    return false;
  }
}

// What global memory holds that nobody wrote: outputs, workspace, and the bytes behind each array (the poison of
// gn_tutorial/abi/dtypes.py and runtime/launch_types.py). A read through a `__gm__` pointer is seen by nobody, so this is how it shows;
// a sum keeps the bits of a NaN. Of whole numbers only those of four bytes: fewer may be equal by chance.
template <class T>
inline bool IsUnwritten(const T& value) {
  if constexpr (__is_same(T, float)) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, value);
    return bits == 0x7fe5a5a5 || bits == 0xa5a5a5a5;  // of an array of floats, and of bytes or words: tiling data
  } else if constexpr (__is_same(T, int32_t) || __is_same(T, uint32_t)) {
    return static_cast<uint32_t>(value) == 0xa5a5a5a5;
  } else {
    return false;
  }
}

// A length, count or offset that was computed from such a variable: times the size of an element, and rounded up or down a little.
// No memory has as many bytes.
inline bool IsWildNumber(int64_t number) {
  for (const uint32_t factor : {1u, 2u, 4u, 8u, kBlockBytes}) {
    const uint32_t over = static_cast<uint32_t>(number) - kWildInteger * factor + 64;
    if (over <= 128) return true;
  }
  return false;
}

}  // namespace gn_twin
