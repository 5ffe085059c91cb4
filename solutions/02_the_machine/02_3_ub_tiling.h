// 02.3, solved: bytes for one buffer, rounded down to whole 32-byte blocks, then
// elements, then tiles rounded up.
#pragma once
#include <cstdint>

struct UbTilingData {
  uint32_t tileElements;  // elements of one full tile
  uint32_t tiles;         // tiles that n elements need, the last one included
  // elements of the last tile: a full tile if n is a multiple of it, 0 only if n is 0
  uint32_t tailElements;
  uint32_t usedBytes;  // bytes that all buffers take together
};

inline const char* MakeUbTiling(int64_t n, int64_t ubBytes, int64_t elementBytes,
                                int64_t buffers, UbTilingData* tiling) {
  if (n < 0) return "n is negative";
  if (buffers <= 0) return "there must be at least one buffer";
  if (elementBytes != 1 && elementBytes != 2 && elementBytes != 4)
    return "elementBytes must be 1, 2 or 4";
  const int64_t bytes = ubBytes / buffers / 32 * 32;
  if (bytes <= 0) return "the Unified Buffer does not hold 32 bytes for each buffer";
  const int64_t tile = bytes / elementBytes;
  const int64_t tiles = (n + tile - 1) / tile;
  if (tiles > UINT32_MAX) return "n needs more than 4294967295 tiles";
  tiling->tileElements = static_cast<uint32_t>(tile);
  tiling->tiles = static_cast<uint32_t>(tiles);
  tiling->tailElements = tiles == 0 ? 0 : static_cast<uint32_t>(n - (tiles - 1) * tile);
  tiling->usedBytes = static_cast<uint32_t>(bytes * buffers);
  return nullptr;
}
