// 04.2, solved: what fits is rounded down, what is needed is rounded up, and the tile
// is the smaller one.
#pragma once
#include <cstdint>

struct GroupTilesData {
  uint32_t tileElements;  // floats of a tile
  // tiles of a group that is read as a whole, the last one included
  uint32_t groupTiles;
  // floats of the last of these tiles: a full tile if the group is a multiple of it
  uint32_t tailElements;
  uint32_t channelTiles;  // tiles of one channel
  // copies into the Unified Buffer for one group in all three passes; each copy brings
  // one tile
  uint32_t copiesIn;
  // bytes of the Unified Buffer that are used: all buffers and otherBytes
  uint32_t usedBytes;
};

inline const char* MakeGroupTiles(int64_t channels, int64_t spatial, int64_t ubBytes,
                                  int64_t buffers, int64_t otherBytes,
                                  GroupTilesData* tiling) {
  if (channels <= 0 || spatial <= 0)
    return "a group has at least one channel and one element in it";
  if (buffers <= 0) return "there must be at least one buffer";
  const int64_t fits = (ubBytes - otherBytes) / buffers / 4 / 64 * 64;
  if (fits < 64) return "the Unified Buffer does not hold 64 floats for each buffer";
  const int64_t group = channels * spatial;
  const int64_t needed = (group + 63) / 64 * 64;
  const int64_t tile = needed < fits ? needed : fits;
  const int64_t groupTiles = (group + tile - 1) / tile;
  const int64_t channelTiles = (spatial + tile - 1) / tile;
  tiling->tileElements = static_cast<uint32_t>(tile);
  tiling->groupTiles = static_cast<uint32_t>(groupTiles);
  tiling->tailElements = static_cast<uint32_t>(group - (groupTiles - 1) * tile);
  tiling->channelTiles = static_cast<uint32_t>(channelTiles);
  tiling->copiesIn = static_cast<uint32_t>(2 * groupTiles + channels * channelTiles);
  tiling->usedBytes = static_cast<uint32_t>(buffers * tile * 4 + otherBytes);
  return nullptr;
}
