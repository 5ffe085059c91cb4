// 09.2 Choose the tile of group_norm/double_buffered by the shape.
//
// The kernel has five buffers of tileElements floats (two for x, two for y, one for
// intermediate results), and 96 bytes more. It goes through a group twice in tiles
// of tileElements, and a third time channel by channel, each channel in tiles of
// tileElements.
//
// A choice passes if it fits, and if the modelled time is at most 3 % above that of the
// best tile that a search finds. `gnt tune group_norm/double_buffered --field
// tileElements --shape 1,2,8192 --groups 2` is such a search. Add --values
// 2048,2752,4096 to try these tiles.
#pragma once
#include <cstdint>

struct TileChoice {
  uint32_t tileElements;  // a multiple of 64
  uint32_t reserved;
};

// Fills *choice and returns nullptr, or returns a sentence if ubBytes has no room for
// buffers of 64 floats. channelsPerGroup and spatial are at least 1: a group has
// channelsPerGroup * spatial elements.
inline const char* ChooseTile(int64_t channelsPerGroup, int64_t spatial,
                              int64_t ubBytes, TileChoice* choice) {
  // YOUR TURN
  (void)channelsPerGroup;
  (void)spatial;
  (void)ubBytes;
  (void)choice;
  return nullptr;
}
