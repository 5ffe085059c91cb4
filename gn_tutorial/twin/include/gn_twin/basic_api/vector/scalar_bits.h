// Bits of a 64-bit number, for the scalar unit: first bit, number of bits, leading zeros.
//
// Source: docs/zh/api, 基础API/标量计算. The names that begin with Scalar are those of CANN 8.x.
#pragma once
#include <stdint.h>

#include "gn_twin/base/config.h"

namespace AscendC {

// Returns the position of the lowest bit that equals countValue; -1 if there is none.
template <int countValue>
inline int64_t GetSFFValue(uint64_t valueIn) {
  static_assert(countValue == 0 || countValue == 1, "GetSFFValue looks for a 0 or a 1");
  const uint64_t wanted = countValue == 1 ? valueIn : ~valueIn;
  return wanted == 0 ? -1 : __builtin_ctzll(wanted);
}
template <int countValue>
inline int64_t ScalarGetSFFValue(uint64_t valueIn) {
  return GetSFFValue<countValue>(valueIn);
}

// Returns the number of bits that equal countValue.
template <int countValue>
inline int64_t GetBitCount(uint64_t valueIn) {
  static_assert(countValue == 0 || countValue == 1, "GetBitCount counts zeros or ones");
  return __builtin_popcountll(countValue == 1 ? valueIn : ~valueIn);
}
template <int countValue>
inline int64_t ScalarGetCountOfValue(uint64_t valueIn) {
  return GetBitCount<countValue>(valueIn);
}

// Returns the number of leading zeros, 64 for zero.
inline int64_t CountLeadingZero(uint64_t valueIn) { return valueIn == 0 ? 64 : __builtin_clzll(valueIn); }
inline int64_t ScalarCountLeadingZero(uint64_t valueIn) { return CountLeadingZero(valueIn); }

// Returns how many bits right after the sign bit equal the sign bit; -1 for the numbers 0 and -1, whose bits are equal.
inline int64_t CountBitsCntSameAsSignBit(int64_t valueIn) {
  const uint64_t differs = static_cast<uint64_t>(valueIn < 0 ? ~valueIn : valueIn);
  return differs == 0 ? -1 : __builtin_clzll(differs) - 1;
}

// Returns num1 / num2 rounded up, for positive numbers; 0 if num2 is 0.
constexpr int32_t CeilDivision(int32_t num1, int32_t num2) { return num2 == 0 ? 0 : (num1 + num2 - 1) / num2; }

inline uint32_t GetDataBlockSizeInBytes() { return gn_twin::kBlockBytes; }

}  // namespace AscendC
