// Recognises the values of variables that a kernel did not set. Observed libraries are compiled with
// -ftrivial-auto-var-init=pattern (gn_tutorial/compiler/toolchain.py), so that such a variable is never right by
// chance, and is recognisable by its bytes.
//
// g++ fills such variables with bytes 0xFE. clang uses 0xAA, and 0xFF for floating-point numbers.
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

// Whether a float was never set. Integers are not checked, because 0xAAAAAAAA is also a mask of every second bit.
template <class T>
inline bool IsWild(const T& value) {
  if constexpr (__is_same(T, float)) {
    return __builtin_bit_cast(uint32_t, value) == kWildFloat;
  } else {
    return false;
  }
}

// Whether a scalar has the contents of global memory that was never written: of outputs, of a workspace, or of the
// bytes after an array (the poison of gn_tutorial/abi/dtypes.py and runtime/launch_types.py). Reads through a `__gm__`
// pointer are not observed, but this check recognises the values read, because a sum keeps the bits of a NaN. Only
// float and the integers of four bytes are checked: a shorter integer may equal the poison by chance.
template <class T>
inline bool IsUnwritten(const T& value) {
  if constexpr (__is_same(T, float)) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, value);
    return bits == 0x7fe5a5a5 || bits == 0xa5a5a5a5;  // poison of float arrays, and of other arrays (tiling data)
  } else if constexpr (__is_same(T, int32_t) || __is_same(T, uint32_t)) {
    return static_cast<uint32_t>(value) == 0xa5a5a5a5;
  } else {
    return false;
  }
}

// Whether a length, count or offset was computed from an unset variable: whether it is within 64 of the fill pattern
// times the size of an element or of a block, modulo 2^32. Such a number is larger than any memory.
inline bool IsWildNumber(int64_t number) {
  for (const uint32_t factor : {1u, 2u, 4u, 8u, kBlockBytes}) {
    const uint32_t over = static_cast<uint32_t>(number) - kWildInteger * factor + 64;
    if (over <= 128) return true;
  }
  return false;
}

}  // namespace gn_twin
