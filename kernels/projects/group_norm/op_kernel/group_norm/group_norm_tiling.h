// How GroupNorm is divided: the numbers every kernel of the ladder reads, and the host function that computes them.
//
// Plain C++ without any Ascend C header, because four sides share it: the kernels (device), the launch code for an NPU (host), the
// twin, and Python. The struct is copied byte for byte, so it holds only 4-byte fields and their number is even: CANN rounds the
// size of tiling data up to 8 bytes.
#pragma once
#include <cstdint>

#include "group_norm_small_tiling.h"

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
  uint32_t channelsPerTile;   // whole channels in a tile, each on 32-byte blocks of its own; 0: a channel is larger
  uint32_t pieceRows;         // step 5 on: channels of a piece, which is in a slot of local memory,
  uint32_t pieceLength;       // and elements of each: all of a channel, or, where pieceRows is 1, a part of it
  uint32_t groupPieces;       // pieces of a group
  uint32_t chunkPieces;       // pieces whose statistics are taken together
  uint32_t slotElements;      // elements of x in a slot, a whole number of repeats
  uint32_t sharedGroups;      // step 7: the last groups, each divided among cores
  uint32_t workspaceBytes;    // for their statistics
  uint32_t tileGroups;        // step 6: groups of a tile; 0: groups are too large. Cores then share tiles, not groups,
  uint32_t unitGroups;        // and tiles count through units of this many groups: those of one sample, or all
  uint32_t tilingKey;         // step 8: which code runs
};

// The largest tile, in elements. Step 4 of the ladder has most buffers of floats: two in, two out, two for sums, and a quarter of one,
// 150 of the 192 KiB of a core's Unified Buffer, gamma and beta 16. A copy of 24 KiB is long enough that its start costs next to nothing.
constexpr uint32_t kGroupNormLargestTile = 6144;

// Step 5 on. 4096 floats in a piece, because their sums of eight, 512, are added up by two short instructions more; 64 chunks, because
// theirs are, too; and chunks of eight pieces where cores need not share them, because every chunk has a pivot to find.
constexpr uint32_t kGroupNormPiece = 4096;
constexpr uint32_t kGroupNormNarrowPiece = 8192;  // of half and bfloat16, which take half the room,
constexpr uint32_t kGroupNormNarrowGroup =
    8192;  // where a group is larger than this: of few pieces cores have unequal shares
constexpr uint32_t kGroupNormLongRow = 64;
constexpr uint32_t kGroupNormChunks = 64;
constexpr uint32_t kGroupNormChunkPieces = 8;
constexpr uint32_t kGroupNormCores[] = {48, 40};

// The L2 cache of an Atlas A2: what is read once and what is written do not both fit into it if they are more than this.
constexpr uint64_t kGroupNormCacheBytes = 192ull << 20;

// Elements of x in 32 bytes, the unit of local memory.
constexpr uint32_t kGroupNormFloats = 8;
constexpr uint32_t kGroupNormHalves = 16;

// Pieces of nearly equal size: as many whole channels as a slot holds, or a channel in as few parts as it takes. worth: cores that a
// launch starts at most, on whatever chip.
inline void MakeGroupNormPieces(GroupNormTilingData* tiling, uint32_t block, uint32_t worth) {
  const auto parts = [](uint64_t whole, uint64_t most) { return (whole + most - 1) / most; };
  const auto round_up = [&](uint64_t number, uint64_t step) { return parts(number, step) * step; };
  const uint64_t spatial = tiling->spatial, channels = tiling->channelsPerGroup;
  const bool large = block == kGroupNormHalves && tiling->groupElements > kGroupNormNarrowGroup;
  const uint64_t piece = large ? kGroupNormNarrowPiece : kGroupNormPiece;
  uint64_t rows = 1, length = spatial;
  if (spatial > piece) {
    length = round_up(parts(spatial, parts(spatial, piece)), 64);
  } else if (spatial > 0) {
    // gamma and beta are behind x; of long rows they are so few that there is room for them besides.
    const uint64_t row = round_up(spatial, block);
    const uint64_t most = piece / (row < kGroupNormLongRow ? row + 2 : row);
    rows = most == 0 ? 1 : parts(channels, parts(channels, most));
  }
  const uint64_t pieces = length == 0 ? 0 : parts(channels, rows) * parts(spatial, length);
  // Step 7 deals chunks of the groups that are left to the cores: of the sizes that the table allows, the one with which the core
  // with the most has the least to do; of these the largest. In sixteenths of a piece: of half and bfloat16, where the vector unit has most
  // to do, a chunk costs one, in each of a core's groups, and a group of several chunks three more. For the chips of Atlas A2, which have 48 or 40 cores, whatever it runs on: chunks decide the
  // bits of the sums.
  const uint64_t least = parts(pieces, kGroupNormChunks);
  const uint64_t largest = 2 * least < kGroupNormChunkPieces ? kGroupNormChunkPieces : 2 * least;
  uint64_t chunk = least, most_work = UINT64_MAX;
  for (uint64_t size = least; size <= largest && pieces > 0; ++size) {
    uint64_t busiest = 0;
    bool all = true;  // cores have one
    for (const uint32_t chip : kGroupNormCores) {
      const uint32_t cores = chip < worth ? chip : worth;
      const uint64_t chunks = tiling->totalGroups % cores * parts(pieces, size);
      const uint64_t each = parts(pieces, size);
      busiest += 16 * parts(chunks, cores) * size;
      if (block == kGroupNormHalves) busiest += tiling->totalGroups / cores * (each > 1 ? each + 3 : 1);
      all = all && (chunks == 0 || chunks >= cores);
    }
    if (busiest < most_work || (busiest == most_work && all)) {
      most_work = busiest;
      chunk = size;
    }
  }
  tiling->pieceRows = static_cast<uint32_t>(rows);
  tiling->pieceLength = static_cast<uint32_t>(length);
  tiling->groupPieces = static_cast<uint32_t>(pieces);
  tiling->chunkPieces = static_cast<uint32_t>(chunk);
  tiling->slotElements = static_cast<uint32_t>(round_up(rows * round_up(length, block), 64));
}

// Fills *tiling for x of shape (n, c, s) in `groups` groups, on at most `cores` cores; 32 bytes hold `block` elements of x. Returns
// nullptr, or the reason why these arguments are refused; *tiling is then untouched.
inline const char* MakeGroupNormTiling(int64_t n, int64_t c, int64_t s, int64_t groups, float eps, int32_t cores,
                                       GroupNormTilingData* tiling, uint32_t block = kGroupNormFloats,
                                       uint32_t worth = UINT32_MAX) {
  constexpr int64_t kLimit = INT32_MAX;  // half of what a uint32_t holds, so that an index may pass the end by a tile
  if (n < 0 || c < 0 || s < 0) return "a dimension of x is negative";
  if (groups <= 0) return "num_groups must be positive";
  if (c == 0) return "x has no channels (C = 0)";
  if (s == 0 && n > 0) return "a spatial axis of x has length 0: a group without elements has no mean";
  if (c % groups != 0) return "the number of channels C must be divisible by num_groups";
  if (!(eps > 0.0f) || eps > 3.0e38f) return "eps must be positive and finite";
  if (cores <= 0) return "the number of cores must be positive";
  if (c > kLimit || s > kLimit || (s > 0 && c / groups > kLimit / s))
    return "a group of x has more than 2147483647 elements";
  if (n > 0 && groups > kLimit / n) return "x has more than 2147483647 groups (N * num_groups)";

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
  MakeGroupNormPieces(tiling, block, worth);
  tiling->sharedGroups = 0;
  tiling->workspaceBytes = 0;
  tiling->tileGroups = 0;
  tiling->unitGroups = 0;
  tiling->tilingKey = 0;
  return nullptr;
}

// The same for step 7: the groups that are left when every core has the same number are divided among all cores, unless a core
// would have to take as many pieces as a whole group has.
inline const char* MakeGroupNormSplitTiling(int64_t n, int64_t c, int64_t s, int64_t groups, float eps, int32_t cores,
                                            GroupNormTilingData* tiling, uint32_t block = kGroupNormFloats,
                                            uint32_t worth = UINT32_MAX) {
  const char* refused = MakeGroupNormTiling(n, c, s, groups, eps, cores, tiling, block, worth);
  if (refused != nullptr || tiling->usedCores == 0) return refused;
  const uint32_t left = tiling->totalGroups % static_cast<uint32_t>(cores);
  const uint32_t group = (tiling->groupPieces + tiling->chunkPieces - 1) / tiling->chunkPieces;
  const uint32_t chunks = left * group;
  const uint32_t used =
      tiling->totalGroups > left || chunks > static_cast<uint32_t>(cores) ? static_cast<uint32_t>(cores) : chunks;
  if (left == 0 || (chunks + used - 1) / used >= group) return nullptr;
  tiling->usedCores = used;
  tiling->groupsPerCore = tiling->totalGroups / static_cast<uint32_t>(cores);
  tiling->extraGroups = 0;
  tiling->sharedGroups = left;
  tiling->workspaceBytes = 4 * 32 * chunks;  // four columns, a block for each chunk
  return nullptr;
}

// What a tile costs besides its elements: about 50 instructions, each as much as 20 to 40 repeats of 64 floats would.
constexpr uint32_t kGroupNormSmallCost = 4096;

// Groups of a tile at most: what fits, and what instructions repeat over. 0: a tile is no gain, because it holds fewer than three, or
// because groups are large and too few for the tiles of a core to follow each other.
constexpr uint32_t kGroupNormSmallLines = 1984;
constexpr uint32_t kGroupNormSmallWidth = 1024;
constexpr uint32_t kGroupNormSmallRounds = 3;
inline uint64_t GroupNormMostSmallGroups(uint64_t n, uint64_t c, uint64_t s, uint64_t groups, uint32_t block) {
  const uint64_t lines = s == 1 ? 1 : c / groups, width = GroupNormGroupWidth(c, s, groups, block);
  if (lines > 248 || width > kGroupNormLargestTile) return 0;
  uint64_t most = 0;
  for (uint64_t step = 1024; step > 0; step /= 2) {
    const uint64_t more = most + step;
    if (more * lines > kGroupNormSmallLines) continue;
    if (GroupNormRoomOf(c, s, groups, more, block).bytes <= kGroupNormRoomBytes) most = more;
  }
  if (width > kGroupNormSmallWidth && n * groups < most * kGroupNormCores[0] * kGroupNormSmallRounds) return 0;
  return most < 3 ? 0 : most;
}

// The same for step 6. A tile is one or more whole samples, or some groups of a sample: whichever leaves the core with the most work
// the least of it.
inline const char* MakeGroupNormSmallTiling(int64_t n, int64_t c, int64_t s, int64_t groups, float eps, int32_t cores,
                                            GroupNormTilingData* tiling, uint32_t block = kGroupNormFloats) {
  const char* refused = MakeGroupNormTiling(n, c, s, groups, eps, cores, tiling, block);
  if (refused != nullptr || tiling->usedCores == 0) return refused;
  const auto parts = [](uint64_t whole, uint64_t most) { return (whole + most - 1) / most; };
  const uint64_t largest = GroupNormMostSmallGroups(n, c, s, groups, block), total = tiling->totalGroups;
  if (largest == 0) return nullptr;
  const uint64_t width = GroupNormGroupWidth(c, s, groups, block);
  uint64_t best = 1, unit = tiling->groups, least = UINT64_MAX;
  const auto consider = [&](uint64_t tile, uint64_t of) {  // `tile` groups at once of each `of` groups
    const uint64_t rounds = parts(parts(of, tile) * (total / of), static_cast<uint64_t>(cores));
    const uint64_t cost = rounds * (tile * width + kGroupNormSmallCost);
    if (cost >= least) return;
    least = cost;
    best = tile;
    unit = of;
  };
  for (uint64_t tile = largest / tiling->groups * tiling->groups; tile > 0; tile -= tiling->groups)
    consider(tile, total);
  for (uint64_t tile = largest < tiling->groups ? largest : tiling->groups; tile > 0; --tile)
    consider(tile, tiling->groups);
  const uint64_t tiles = parts(unit, best) * (total / unit);
  const uint64_t used = tiles < static_cast<uint64_t>(cores) ? tiles : static_cast<uint64_t>(cores);
  tiling->tileGroups = static_cast<uint32_t>(best);
  tiling->unitGroups = static_cast<uint32_t>(unit);
  tiling->usedCores = static_cast<uint32_t>(used);
  tiling->groupsPerCore = static_cast<uint32_t>(tiles / used);
  tiling->extraGroups = static_cast<uint32_t>(tiles % used);
  return nullptr;
}

// Step 8. A key is one of these three ways, plus the dtype of x as CANN numbers it (ge::DataType).
constexpr uint32_t kGroupNormSmallWay = 100;   // of step 6
constexpr uint32_t kGroupNormSplitWay = 200;   // of step 7, which is that of step 5 where no group is shared
constexpr uint32_t kGroupNormSingleWay = 300;  // groups of one element

// Elements of a tile of that way, and how many channels make it the quicker one: tiles do not reach into the next sample.
constexpr uint32_t kGroupNormSingleTile = 2048;
constexpr int64_t kGroupNormSingleChannels = 512;
constexpr int32_t kGroupNormFloat = 0;
constexpr int32_t kGroupNormHalf = 1;
constexpr int32_t kGroupNormBfloat16 = 27;

// Tiles of single elements; the cores share them as in step 6.
inline void MakeGroupNormSingleTiles(GroupNormTilingData* tiling, uint32_t cores) {
  const uint32_t sample = (tiling->channels + kGroupNormSingleTile - 1) / kGroupNormSingleTile;
  const uint32_t tiles = sample * (tiling->totalGroups / tiling->channels);
  tiling->usedCores = tiles < cores ? tiles : cores;
  tiling->groupsPerCore = tiles / tiling->usedCores;
  tiling->extraGroups = tiles % tiling->usedCores;
}

// Elements that a core normalises while one more core is being started: 0.16 us, about 290 cycles. What fills the blocks of small
// groups counts.
constexpr double kGroupNormStart = 1000;
// And while cores that share groups meet, and pass their sums on.
constexpr double kGroupNormMeeting = 8000;

// The fewest cores that leave the busiest no more of `all` equal parts than `cores` do: the others would only have less.
inline int64_t GroupNormFewestCores(int64_t all, int64_t cores) {
  const int64_t most = (all + cores - 1) / cores;
  return (all + most - 1) / most;
}

// How many cores are worth starting: with a of them the launch takes a starts, and the work the a-th part of all of it, so that the best
// number is the root of work by start. Then as few as give no core more groups.
inline int32_t GroupNormCoresWorthIt(int64_t n, int64_t c, int64_t s, int64_t groups, int32_t cores, uint32_t block) {
  if (n <= 0 || c <= 0 || s <= 0 || groups <= 0 || c % groups != 0) return cores;
  const uint64_t width = GroupNormGroupWidth(c, s, groups, block);
  const double padded = width < 8 ? 8.0 : static_cast<double>(width);  // a block of numbers for each group
  const double total = static_cast<double>(n) * static_cast<double>(groups);
  int32_t some = 1;
  while (some < cores && some * kGroupNormStart * some < padded * total) ++some;
  if (some >= cores || total < some) return some < cores ? some : cores;
  return static_cast<int32_t>(GroupNormFewestCores(n * groups, some));
}

// The same cores' groups, tiles, or chunks of shared groups, on the fewest.
inline void DealGroupNormEvenly(GroupNormTilingData* tiling) {
  if (tiling->extraGroups > 0) {
    const uint32_t all = tiling->groupsPerCore * tiling->usedCores + tiling->extraGroups;
    tiling->usedCores = static_cast<uint32_t>(GroupNormFewestCores(all, tiling->usedCores));
    tiling->groupsPerCore = all / tiling->usedCores;
    tiling->extraGroups = all % tiling->usedCores;
  } else if (tiling->sharedGroups > 0 && tiling->groupsPerCore == 0) {
    const uint32_t group = (tiling->groupPieces + tiling->chunkPieces - 1) / tiling->chunkPieces;
    tiling->usedCores = static_cast<uint32_t>(GroupNormFewestCores(tiling->sharedGroups * group, tiling->usedCores));
  }
}

// Whether to share groups that are fewer than the cores: it takes from the busiest what all cores then do together, and costs their meeting
// and the start of further ones.
inline bool GroupNormSharesFew(const GroupNormTilingData& tiling, int32_t cores) {
  const double group = tiling.groupElements, groups = tiling.totalGroups;
  return group - group * groups / cores > kGroupNormMeeting + kGroupNormStart * (cores - groups);
}

// The same for step 8: single elements, tiles of small groups where a tile holds several, otherwise groups in pieces.
inline const char* MakeGroupNormKeyTiling(int64_t n, int64_t c, int64_t s, int64_t groups, float eps, int32_t cores,
                                          int32_t dtype, GroupNormTilingData* tiling) {
  if (dtype != kGroupNormFloat && dtype != kGroupNormHalf && dtype != kGroupNormBfloat16)
    return "x must be float32, float16 or bfloat16";
  const uint32_t block = dtype == kGroupNormFloat ? kGroupNormFloats : kGroupNormHalves;
  const int32_t worth = GroupNormCoresWorthIt(n, c, s, groups, kGroupNormCores[0], block);
  cores = cores < worth ? cores : worth;
  const char* refused = MakeGroupNormSmallTiling(n, c, s, groups, eps, cores, tiling, block);
  if (refused != nullptr) return refused;
  if (c == groups && s == 1 && c >= kGroupNormSingleChannels && n > 0) {
    MakeGroupNormSingleTiles(tiling, static_cast<uint32_t>(cores));
    DealGroupNormEvenly(tiling);
    tiling->tilingKey = kGroupNormSingleWay + static_cast<uint32_t>(dtype);
    return nullptr;
  }
  const bool small = tiling->tileGroups != 0;
  const bool few = tiling->totalGroups <= static_cast<uint32_t>(cores) && !GroupNormSharesFew(*tiling, cores);
  if (!small && few) {
    refused = MakeGroupNormTiling(n, c, s, groups, eps, cores, tiling, block, static_cast<uint32_t>(worth));
  } else if (!small)
    refused = MakeGroupNormSplitTiling(n, c, s, groups, eps, cores, tiling, block, static_cast<uint32_t>(worth));
  DealGroupNormEvenly(tiling);
  tiling->tilingKey = (small ? kGroupNormSmallWay : kGroupNormSplitWay) + static_cast<uint32_t>(dtype);
  return refused;
}
