// Unsigned numbers that went below zero: numbers slightly less than 2^32 or 2^16, or such a number times an element's
// size.
#pragma once
#include <stdint.h>

namespace gn_twin {

struct Wrapped {
  int64_t number = 0;
  int64_t below = 0;  // the amount below zero; 0: the number did not go below zero
  int64_t unit = 1;   // the size of an element if the original number was in bytes, else 1
  int64_t bits = 32;
};

// Returns how far a number went below zero. `of_16`: the number is a copy's rows, in a field of 16 bits. A number that
// is more than 2^20 below zero (no core has so many elements), or 2^8 for rows, does not count as a wrong subtraction.
constexpr Wrapped WrappedNumber(int64_t number, bool of_16) {
  const int64_t bits = of_16 ? 16 : 32;
  const int64_t all = int64_t{1} << bits;
  const int64_t furthest = of_16 ? 1 << 8 : 1 << 20;
  for (int64_t unit = 1; unit <= (of_16 ? 1 : 8); unit *= 2) {
    const int64_t each = number / unit;
    if (number % unit == 0 && each < all && each >= all - furthest) return {each, all - each, unit, bits};
  }
  return {};
}

}  // namespace gn_twin
