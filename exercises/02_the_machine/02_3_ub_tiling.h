// 02.3 Divide n elements into tiles that fill the Unified Buffer (UB).
//
// A kernel uses `buffers` buffers of one size. The tile is the largest number of
// elements for which
//   - all buffers together fit into ubBytes, and
//   - the size of one buffer is a multiple of 32 bytes, the unit of the UB.
// The tile does not depend on n. elementBytes is 1, 2 or 4.
#pragma once
#include <cstdint>

struct UbTilingData {
  uint32_t tileElements;  // elements of one full tile
  uint32_t tiles;         // tiles that n elements need, the last one included
  // elements of the last tile: a full tile if n is a multiple of it, 0 only if n is 0
  uint32_t tailElements;
  uint32_t usedBytes;  // bytes that all buffers take together
};

// Fills *tiling and returns nullptr. If that is impossible, it returns a sentence that
// says why, before it divides: there is no buffer (buffers is 0), or less than 32 bytes
// for each.
inline const char* MakeUbTiling(int64_t n, int64_t ubBytes, int64_t elementBytes,
                                int64_t buffers, UbTilingData* tiling) {
  // YOUR TURN
  (void)n;
  (void)ubBytes;
  (void)elementBytes;
  (void)buffers;
  (void)tiling;
  return nullptr;
}
