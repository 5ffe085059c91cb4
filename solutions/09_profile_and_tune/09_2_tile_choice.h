// 09.2 Choose the tile of group_norm/double_buffered by the shape.
//
// Few pieces, because each one costs its calls and its starts; of equal size, because a
// short last piece costs as much as a long one; and two at least where a group is
// large, because with one nothing overlaps. It is the group that is cut into equal
// pieces: then no tile that fits makes fewer pieces of the group, and none makes fewer
// of a channel. For with p = ceil(c * S / largest), where a group has c channels of S
// elements, a channel takes ceil(p / c) pieces at most; and p <= c * ceil(S / largest).
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
  const int64_t largest = (ubBytes - 96) / (5 * 4 * 64) * 64;
  if (largest < 64)
    return "the Unified Buffer has no room for five buffers of 64 floats";
  const int64_t group = channelsPerGroup * spatial;
  int64_t pieces = (group + largest - 1) / largest;
  if (pieces == 1 && group > 4096) pieces = 2;
  const int64_t piece = (group + pieces - 1) / pieces;
  const int64_t tile = (piece + 63) / 64 * 64;
  choice->tileElements = static_cast<uint32_t>(tile);
  choice->reserved = 0;
  return nullptr;
}
