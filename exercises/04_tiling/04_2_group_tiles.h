// 04.2 Tiles for a group that goes through the vector unit.
//
// A kernel like group_norm/tiled works on `buffers` buffers of one tile of floats each
// (4 bytes an element), and has otherBytes more for single numbers. The tile is a
// multiple of 64 floats. It is as large as the Unified Buffer allows, but a group that
// is smaller gets no more than it needs: its elements, rounded up to a multiple of 64.
//
// A group has `channels` channels of `spatial` elements each. The kernel reads it three
// times: twice as one piece, channels * spatial elements, and the third time channel by
// channel, so that no tile reaches into the next channel.
#pragma once
#include <cstdint>

struct GroupTilesData {
  uint32_t tileElements;  // floats of a tile
  // tiles of a group that is taken as one piece, the last one included
  uint32_t groupTiles;
  // floats of the last one of them: a full tile's if the group can be divided
  uint32_t tailElements;
  uint32_t channelTiles;  // tiles of one channel
  // copies into the Unified Buffer for one group, all three passes; a copy brings one
  // tile
  uint32_t copiesIn;
  // bytes of the Unified Buffer that are taken: all buffers and otherBytes
  uint32_t usedBytes;
};

// Fills *tiling and returns nullptr; or returns a sentence, the reason why it cannot be
// done: channels, spatial or buffers is not positive, or there are not even 64 floats
// for each buffer. otherBytes may be 0.
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
