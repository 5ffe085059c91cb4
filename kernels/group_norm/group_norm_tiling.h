// How GroupNorm is divided: the numbers every kernel of the ladder reads, and the host function that computes them.
//
// Plain C++ without any Ascend C header, because four sides share it: the kernels (device), the launch code for an NPU (host), the
// twin, and Python. The struct is copied byte for byte, so it holds only 4-byte fields and their number is even: CANN rounds the
// size of tiling data up to 8 bytes.
#pragma once
#include <cstdint>

// Not "GroupNormTiling": CANN's own headers put a struct of that name into the global namespace.
struct GroupNormTilingData {
  uint32_t channels;          // C
  uint32_t spatial;           // S: product of the spatial axes, 1 if there are none
  uint32_t groups;            // G
  uint32_t channelsPerGroup;  // C / G
  uint32_t groupElements;     // D = C / G * S: one group is contiguous in memory
  uint32_t totalGroups;       // N * G
  uint32_t usedCores;         // blocks to launch
  uint32_t groupsPerCore;     // every core normalises this many groups,
  uint32_t extraGroups;       // and the first extraGroups cores one more
  float eps;                  // added to the variance
  uint32_t tileElements;      // elements that are in local memory at once, a whole number of repeats (64 floats)
  uint32_t channelsPerTile;  // whole channels that a tile holds, each on its own 32-byte blocks; 0: a channel is larger
};

// The largest tile, in elements: seven float buffers of this size (two in, two out, three for intermediate results) take 168 of the
// 192 KiB of a core's Unified Buffer. A copy of 24 KiB is long enough that its start costs next to nothing.
constexpr uint32_t kGroupNormLargestTile = 6144;

// Fills *tiling for x of shape (n, c, s) in `groups` groups, on at most `cores` cores. Returns nullptr, or the reason why these
// arguments are refused; *tiling is then untouched.
inline const char* MakeGroupNormTiling(int64_t n, int64_t c, int64_t s, int64_t groups, float eps, int32_t cores,
                                       GroupNormTilingData* tiling) {
  constexpr int64_t kLimit = UINT32_MAX;
  if (n < 0 || c < 0 || s < 0) return "a dimension of x is negative";
  if (groups <= 0) return "num_groups must be positive";
  if (c == 0) return "x has no channels (C = 0)";
  if (c % groups != 0) return "the number of channels C must be divisible by num_groups";
  if (!(eps > 0.0f) || eps > 3.0e38f) return "eps must be positive and finite";
  if (cores <= 0) return "the number of cores must be positive";
  if (c > kLimit || s > kLimit || (s > 0 && c / groups > kLimit / s))
    return "a group of x has more than 4294967295 elements";
  if (n > 0 && groups > kLimit / n) return "x has more than 4294967295 groups (N * num_groups)";

  const int64_t total = n * groups;
  const int64_t used = total < cores ? total : cores;
  tiling->channels = static_cast<uint32_t>(c);
  tiling->spatial = static_cast<uint32_t>(s);
  tiling->groups = static_cast<uint32_t>(groups);
  tiling->channelsPerGroup = static_cast<uint32_t>(c / groups);
  tiling->groupElements = static_cast<uint32_t>(c / groups * s);
  tiling->totalGroups = static_cast<uint32_t>(total);
  tiling->usedCores = static_cast<uint32_t>(used);
  tiling->groupsPerCore = used == 0 ? 0 : static_cast<uint32_t>(total / used);
  tiling->extraGroups = used == 0 ? 0 : static_cast<uint32_t>(total % used);
  tiling->eps = eps;
  constexpr uint32_t kRepeat = 64;      // floats that the vector unit processes at once
  constexpr uint32_t kBlock = 8;        // floats in 32 bytes
  constexpr uint32_t kMostRows = 4095;  // of one copy
  const uint64_t row = (static_cast<uint64_t>(s) + kBlock - 1) / kBlock * kBlock;
  const uint64_t padded = row * tiling->channelsPerGroup;
  const uint64_t tile =
      padded < kGroupNormLargestTile ? (padded + kRepeat - 1) / kRepeat * kRepeat : kGroupNormLargestTile;
  const uint64_t rows = row == 0 ? 0 : tile / row;
  const uint64_t most = tiling->channelsPerGroup < kMostRows ? tiling->channelsPerGroup : kMostRows;
  tiling->tileElements = static_cast<uint32_t>(tile);
  tiling->channelsPerTile = static_cast<uint32_t>(rows < most ? rows : most);
  return nullptr;
}
