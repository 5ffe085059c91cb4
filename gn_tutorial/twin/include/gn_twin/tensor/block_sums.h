// Sums eight blocks of eight floats each. Each sum is a tree of neighbours: ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)).
//
// The code uses vector types, which every compiler that the twin supports has. If it used loops over arrays, g++ 12
// would make it three times as slow (measured with AVX-512: a repeat took 16 ns instead of 5). That matters, because
// reductions are a quarter of GroupNorm's time in bare mode.
#pragma once
#include <stdint.h>

namespace gn_twin {

using EightFloats = float __attribute__((vector_size(32)));
using LooseFloats = float __attribute__((vector_size(32), aligned(4), may_alias));  // in memory, at any address

#if defined(__clang__)
#define GNT_PICK(A, B, ...) __builtin_shufflevector(A, B, __VA_ARGS__)
#else
using EightIndices = int32_t __attribute__((vector_size(32)));
#define GNT_PICK(A, B, ...) __builtin_shuffle(A, B, EightIndices{__VA_ARGS__})
#endif

// Adds neighbours. Each half of the result holds two sums of A, then two sums of B.
#define GNT_NEIGHBOURS(A, B) (GNT_PICK(A, B, 0, 2, 8, 10, 4, 6, 12, 14) + GNT_PICK(A, B, 1, 3, 9, 11, 5, 7, 13, 15))

inline EightFloats SumsOf(const EightFloats (&block)[8]) {
  const EightFloats pairs[] = {GNT_NEIGHBOURS(block[0], block[1]), GNT_NEIGHBOURS(block[2], block[3]),
                               GNT_NEIGHBOURS(block[4], block[5]), GNT_NEIGHBOURS(block[6], block[7])};
  const EightFloats low = GNT_NEIGHBOURS(pairs[0], pairs[1]), high = GNT_NEIGHBOURS(pairs[2], pairs[3]);
  return GNT_PICK(low, high, 0, 1, 2, 3, 8, 9, 10, 11) + GNT_PICK(low, high, 4, 5, 6, 7, 12, 13, 14, 15);
}

// Sets out[b] to the sum of block b, for eight blocks that begin `step` floats apart. All blocks are read before a sum
// is written.
inline void SumEightBlocks(float* out, const float* src, uint64_t step) {
  EightFloats block[8];
  for (uint32_t b = 0; b < 8; ++b) block[b] = *reinterpret_cast<const LooseFloats*>(src + b * step);
  *reinterpret_cast<LooseFloats*>(out) = SumsOf(block);
}

// Does the same for the first `blocks` blocks, at most eight. It reads no other block and writes no other sum.
inline void SumFewBlocks(float* out, const float* src, uint64_t step, uint32_t blocks) {
  EightFloats block[8] = {};
  for (uint32_t b = 0; b < blocks; ++b) block[b] = *reinterpret_cast<const LooseFloats*>(src + b * step);
  const EightFloats sums = SumsOf(block);
  for (uint32_t b = 0; b < blocks; ++b) out[b] = sums[b];
}

#undef GNT_NEIGHBOURS
#undef GNT_PICK

}  // namespace gn_twin
