// 04.2 Tiles for a group that goes through the vector unit.
//
// A kernel like group_norm/tiled has `buffers` buffers, each of one tile of floats (4
// bytes per element), and uses otherBytes more for single numbers. The tile is a
// multiple of 64 floats. It is as large as the Unified Buffer allows, but for a smaller
// group only as large as needed: the elements of the group, rounded up to a multiple of
// 64.
//
// A group has `channels` channels of `spatial` elements each. The kernel reads it three
// times: twice as a whole, channels * spatial elements, and the third time channel by
// channel, so that no tile reaches into the next channel.
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

// Fills *tiling and returns nullptr. If that is impossible, it returns a sentence that
// says why: channels, spatial or buffers is not positive, or there are not even 64
// floats for each buffer. otherBytes may be 0.
inline const char* MakeGroupTiles(int64_t channels, int64_t spatial, int64_t ubBytes,
                                  int64_t buffers, int64_t otherBytes,
                                  GroupTilesData* tiling) {
  // YOUR TURN
  (void)channels;
  (void)spatial;
  (void)ubBytes;
  (void)buffers;
  (void)otherBytes;
  (void)tiling;
  return nullptr;
}
