// The gradients of GroupNorm, how they are divided: the numbers every kernel of this ladder reads, and the host functions that
// compute them.
//
// Plain C++ without any Ascend C header, as the forward pass's header: kernels, launch code, the twin and Python share it. Only
// 4-byte fields, an even number of them: CANN rounds the size of tiling data up to 8 bytes.
#pragma once
#include <cstdint>

struct GroupNormBackwardTilingData {
  uint32_t batch;             // N
  uint32_t channels;          // C
  uint32_t spatial;           // S: product of the spatial axes, 1 if there are none
  uint32_t groups;            // G
  uint32_t channelsPerGroup;  // C / G
  uint32_t groupElements;     // D = C / G * S: one group is contiguous in memory
  uint32_t totalGroups;       // N * G
  uint32_t usedCores;         // blocks to launch
  uint32_t groupsPerCore;     // every core computes the dx of this many groups,
  uint32_t extraGroups;       // and the first extraGroups cores of one more
  uint32_t channelsPerCore;   // every core computes dgamma and dbeta of this many channels,
  uint32_t extraChannels;     // and the first extraChannels cores of one more
  uint32_t
      tileElements;  // elements of a tensor that are in local memory at once, a whole number of repeats (64 floats)
  uint32_t workspaceBytes;  // step 3: a dgamma and a dbeta for each channel of each sample. Step 5: the tables below
  uint32_t pieceRows;       // step 5: channels of a piece, which is in a slot of local memory,
  uint32_t pieceLength;     // and elements of each: all of a row, or, where pieceRows is 1, a part of it
  uint32_t groupPieces;     // pieces of a group
  uint32_t chunkPieces;     // pieces whose sums for dx are taken together
  uint32_t slotElements;    // elements of a slot: dy and x of a piece, gamma of its channels, and beta, if that is read
  uint32_t sharedGroups;    // the last groups, each divided among cores
  uint32_t tableEntries;  // sums of rows in the workspace, of each of the two kinds: one for each part of each row, or,
                          // of small groups, one for each channel of the samples of a tile
  uint32_t mask;          // which gradients are wanted, as bits; the others are neither computed nor written
  uint32_t tilingKey;     // step 5: which code runs
  uint32_t tileGroups;    // groups of a tile, where they are small; 0: they are not. Cores then share tiles, not groups
};

// The largest tile, in elements: seven float buffers of this size (two of dy, two of x, two of dx, one for intermediate results)
// take 168 of the 192 KiB of a core's Unified Buffer.
constexpr uint32_t kGroupNormBackwardTile = 6144;

// Bits of the mask: which gradients the caller wants.
constexpr uint32_t kGroupNormWantDx = 1;
constexpr uint32_t kGroupNormWantDgamma = 2;
constexpr uint32_t kGroupNormWantDbeta = 4;
constexpr uint32_t kGroupNormWantAll = 7;

// Fills *tiling for x of shape (n, c, s) in `groups` groups, on at most `cores` cores. Returns nullptr, or the reason why these
// arguments are refused; *tiling is then untouched. Without a sample (n = 0) dgamma and dbeta are zeros, which somebody has to
// write: there are as many cores as for one.
inline const char* MakeGroupNormBackwardTiling(int64_t n, int64_t c, int64_t s, int64_t groups, int32_t cores,
                                               int32_t mask, GroupNormBackwardTilingData* tiling) {
  constexpr int64_t kLimit = INT32_MAX;  // half of what a uint32_t holds, so that an index may pass the end by a tile
  if (n < 0 || c < 0 || s < 0) return "a dimension of x is negative";
  if (groups <= 0) return "num_groups must be positive";
  if (c == 0) return "x has no channels (C = 0)";
  if (s == 0 && n > 0) return "a spatial axis of x has length 0: a group without elements has no mean";
  if (c % groups != 0) return "the number of channels C must be divisible by num_groups";
  if (cores <= 0) return "the number of cores must be positive";
  if (mask != static_cast<int32_t>(kGroupNormWantAll))
    return "this step writes all three gradients: output_mask cannot leave one out";
  if (c > kLimit || s > kLimit || (s > 0 && c / groups > kLimit / s))
    return "a group of x has more than 2147483647 elements";
  if (n > 0 && groups > kLimit / n) return "x has more than 2147483647 groups (N * num_groups)";
  if (n > 0 && c > kLimit / 8 / n) return "x has more than 268435455 channels of samples (N * C)";

  const int64_t total = n * groups, most = total > c ? total : c;
  const int64_t used = most < cores ? most : cores;
  const int64_t row = (s + 63) / 64 * 64;
  tiling->batch = static_cast<uint32_t>(n);
  tiling->channels = static_cast<uint32_t>(c);
  tiling->spatial = static_cast<uint32_t>(s);
  tiling->groups = static_cast<uint32_t>(groups);
  tiling->channelsPerGroup = static_cast<uint32_t>(c / groups);
  tiling->groupElements = static_cast<uint32_t>(c / groups * s);
  tiling->totalGroups = static_cast<uint32_t>(total);
  tiling->usedCores = static_cast<uint32_t>(used);
  tiling->groupsPerCore = static_cast<uint32_t>(total / used);
  tiling->extraGroups = static_cast<uint32_t>(total % used);
  tiling->channelsPerCore = static_cast<uint32_t>(c / used);
  tiling->extraChannels = static_cast<uint32_t>(c % used);
  // A row is one channel of one sample: a tile holds all of it, or a part.
  tiling->tileElements = row < kGroupNormBackwardTile && row > 0 ? static_cast<uint32_t>(row) : kGroupNormBackwardTile;
  tiling->workspaceBytes = static_cast<uint32_t>(2 * sizeof(float) * n * c);
  tiling->pieceRows = tiling->pieceLength = tiling->groupPieces = tiling->chunkPieces = tiling->slotElements = 0;
  tiling->sharedGroups = tiling->tableEntries = tiling->tilingKey = tiling->tileGroups = 0;
  tiling->mask = static_cast<uint32_t>(mask);
  return nullptr;
}

// Step 5. A piece has up to so many elements of dy and as many of x: of floats 2048, because the hardware has eight event ids of a
// kind, and eight pieces fill local memory; of half and bfloat16, which need less room to wait and are computed on as floats in
// another, 4096 in six slots. A table of 128 chunks, because a group of 16 million elements on 48 cores has pieces enough.
constexpr uint32_t kGroupNormBackwardPiece = 2048;
constexpr uint32_t kGroupNormBackwardSlots = 8;
constexpr uint32_t kGroupNormBackwardNarrowPiece = 4096;
constexpr uint32_t kGroupNormBackwardNarrowSlots = 6;
constexpr uint32_t kGroupNormBackwardActivatedNarrowSlots = 4;  // what reaches GroupNorm waits as floats
constexpr uint32_t kGroupNormBackwardChunks = 128;

// The L2 cache of an Atlas A2: what is read and what is written do not both fit into it if they are more than this.
constexpr uint64_t kGroupNormBackwardCacheBytes = 192ull << 20;

// Where x begins in a slot, in elements: from one repeat of the vector unit to the next, the 16 bank groups of local memory (512 bytes)
// are taken half and half, so x stands half of them behind dy, and an instruction reads both at once.
constexpr uint64_t GroupNormBackwardXPlace(uint64_t elements, uint64_t block) {
  return (elements + 16 * block - 1) / (16 * block) * (16 * block) + 8 * block;
}

// The dtype of x, dy, gamma and of all three gradients, as CANN numbers it (ge::DataType).
constexpr int32_t kGroupNormBackwardFloat = 0;
constexpr int32_t kGroupNormBackwardHalf = 1;
constexpr int32_t kGroupNormBackwardBfloat16 = 27;

// A key is one of these two ways, plus the dtype.
constexpr uint32_t kGroupNormBackwardSmallWay = 100;   // many small groups at once
constexpr uint32_t kGroupNormBackwardPiecesWay = 200;  // groups in pieces

// The machines for which tiles and chunks are chosen, whatever a launch runs on: what is added up first must not depend on that.
constexpr uint32_t kGroupNormBackwardCores[] = {48, 40};

// Pieces of nearly equal size: as many whole rows as a slot holds, or a row in as few parts as it takes. They, and the chunks, depend
// on the shape only: what is added to what must not change with the number of cores. worth: cores that a launch starts at most, on
// whatever chip. activates: whether dy goes through an activation first, which needs beta besides.
inline void MakeGroupNormBackwardPieces(GroupNormBackwardTilingData* tiling, uint32_t block, uint32_t worth,
                                        bool activates) {
  const uint32_t longest_row =
      255 * 8 / block * block;  // the distance of two rows of floats, in blocks, has eight bits
  const auto parts = [](uint64_t whole, uint64_t most) { return (whole + most - 1) / most; };
  const auto round_up = [&](uint64_t number, uint64_t step) { return parts(number, step) * step; };
  const uint64_t spatial = tiling->spatial, channels = tiling->channelsPerGroup;
  const uint64_t piece = block == 8 ? kGroupNormBackwardPiece : kGroupNormBackwardNarrowPiece;
  uint64_t rows = 1, length = spatial;
  if (spatial > piece) {
    length = round_up(parts(spatial, parts(spatial, piece)), 64);
  } else if (spatial <= longest_row && spatial > 0) {
    const uint64_t row = round_up(spatial, block);
    // Of short rows the gamma and the sums need room, too, and where beta is read, more of it.
    const uint64_t room = activates ? (row < 128 ? 6 : 0) : (row < 64 ? 2 : 0);
    const uint64_t most = piece / (row + room);
    rows = most == 0 ? 1 : parts(channels, parts(channels, most));
  }
  const uint64_t pieces = length == 0 ? 0 : parts(channels, rows) * parts(spatial, length);
  tiling->pieceRows = static_cast<uint32_t>(rows);
  tiling->pieceLength = static_cast<uint32_t>(length);
  tiling->groupPieces = static_cast<uint32_t>(pieces);
  // Chunks of shared groups are dealt to the cores; a chunk costs some instructions of its own. Of up to four pieces, the largest with
  // which the core with the most has the least, on the chips of Atlas A2.
  const uint64_t least = parts(pieces, kGroupNormBackwardChunks);
  uint64_t chunk = least, fewest = UINT64_MAX;
  for (uint64_t size = least; size <= (least > 4 ? least : 4) && pieces > 0; ++size) {
    uint64_t busiest = 0;
    for (const uint32_t chip : kGroupNormBackwardCores) {
      const uint32_t cores = chip < worth ? chip : worth;
      busiest += parts(tiling->totalGroups % cores * parts(pieces, size), cores) * size;
    }
    if (busiest > fewest) continue;
    fewest = busiest;
    chunk = size;
  }
  tiling->chunkPieces = static_cast<uint32_t>(chunk);
  const uint64_t elements = rows * round_up(length, block);
  const uint64_t dy = activates && block == 16 ? 2 * elements : elements;  // floats take the place of two halves
  tiling->slotElements = static_cast<uint32_t>(round_up(
      GroupNormBackwardXPlace(dy, block) + elements + (activates ? 2 : 1) * round_up(rows, block), 16 * block));
}

// Elements that a core computes the gradients of while one more core is being started: 0.16 us, about 290 cycles. The second number is for small
// groups, and counts what fills their blocks.
constexpr double kGroupNormBackwardStart = 550;
constexpr double kGroupNormBackwardSmallStart = 450;
constexpr double kGroupNormBackwardActivation =
    2.0;  // times as long takes an element whose dy goes through an activation
// And while cores that share groups meet, and pass their sums on.
constexpr double kGroupNormBackwardMeeting = 8000;

// Whether to share groups that are fewer than the cores: it takes from the busiest what all cores then do together, and costs their meeting
// and the start of further ones.
inline bool GroupNormBackwardSharesFew(const GroupNormBackwardTilingData& tiling, int32_t cores) {
  const double group = tiling.groupElements, groups = tiling.totalGroups;
  return group - group * groups / cores > kGroupNormBackwardMeeting + kGroupNormBackwardStart * (cores - groups);
}

// Any dtype, any mask, and the groups that are left when every core has the same number are divided among all cores, unless a core
// would have to take as many pieces as a whole group has.
inline const char* MakeGroupNormBackwardPiecesTiling(int64_t n, int64_t c, int64_t s, int64_t groups, int32_t cores,
                                                     int32_t mask, int32_t dtype, GroupNormBackwardTilingData* tiling,
                                                     uint32_t worth = UINT32_MAX, bool activates = false) {
  if (dtype != kGroupNormBackwardFloat && dtype != kGroupNormBackwardHalf && dtype != kGroupNormBackwardBfloat16)
    return "x must be float32, float16 or bfloat16";
  if (mask < 0 || mask > static_cast<int32_t>(kGroupNormWantAll)) return "output_mask has three bits";
  GroupNormBackwardTilingData made;
  const char* refused = MakeGroupNormBackwardTiling(n, c, s, groups, cores, kGroupNormWantAll, &made);
  if (refused != nullptr) return refused;
  MakeGroupNormBackwardPieces(&made, dtype == kGroupNormBackwardFloat ? 8 : 16, worth, activates);
  const int64_t row_parts = made.pieceLength == 0 ? 0 : (s + made.pieceLength - 1) / made.pieceLength;
  if (row_parts > 0 && n > 0 && row_parts > INT32_MAX / 8 / (n * c))
    return "x has more than 268435455 parts of rows (of at most 2048 floats, or 4096 halves)";

  const uint32_t all = static_cast<uint32_t>(cores);
  const uint32_t left = made.totalGroups % all;
  const uint32_t group_chunks = made.groupPieces == 0 ? 0 : (made.groupPieces - 1) / made.chunkPieces + 1;
  const uint32_t chunks = left * group_chunks;
  const uint32_t used = made.totalGroups > left || chunks > all ? all : chunks;
  made.mask = static_cast<uint32_t>(mask);
  made.tilingKey = kGroupNormBackwardPiecesWay + static_cast<uint32_t>(dtype);
  const bool parameters = (made.mask & (kGroupNormWantDgamma | kGroupNormWantDbeta)) != 0;
  made.tableEntries = parameters ? static_cast<uint32_t>(n * c * row_parts) : 0;
  const bool shares = made.totalGroups > left || GroupNormBackwardSharesFew(made, cores);
  if (shares && chunks > 0 && (chunks + used - 1) / used < group_chunks) {
    made.sharedGroups = left;
    made.groupsPerCore = made.totalGroups / all;
    made.extraGroups = 0;
    made.usedCores = used;
  } else {
    made.usedCores = made.totalGroups < all ? made.totalGroups : all;
    if (made.usedCores == 0) made.usedCores = groups < cores ? static_cast<uint32_t>(groups) : all;
    made.groupsPerCore = made.totalGroups / made.usedCores;
    made.extraGroups = made.totalGroups % made.usedCores;
  }
  if (mask == 0) made.usedCores = 0;
  // Two tables of sums of rows, what each group's mean lacks, and three sums for each chunk of a shared group.
  made.workspaceBytes = static_cast<uint32_t>(sizeof(float)) *
                        (2 * made.tableEntries + made.totalGroups + 3 * made.sharedGroups * group_chunks);
  *tiling = made;
  return nullptr;
}

// Elements of a tile of small groups: so many tiles of intermediate results fill local memory. And what a tile costs besides its elements: about 80 instructions,
// each as much as 20 to 40 repeats of 64 floats would.
constexpr uint32_t kGroupNormBackwardSmallTile = 3584;
constexpr uint32_t kGroupNormBackwardNarrowTile = 4096;  // of half and bfloat16
constexpr uint32_t kGroupNormBackwardSmallCost = 6144;
// Where dy goes through an activation, beta and two more intermediate results need room.
constexpr uint32_t kGroupNormBackwardActivatedTile = 2816;
constexpr uint32_t kGroupNormBackwardActivatedNarrowTile = 3328;

// The elements of a tile for a dtype of so many bytes.
constexpr uint32_t GroupNormBackwardTile(uint32_t bytes, bool activates) {
  if (activates) return bytes == 4 ? kGroupNormBackwardActivatedTile : kGroupNormBackwardActivatedNarrowTile;
  return bytes == 4 ? kGroupNormBackwardSmallTile : kGroupNormBackwardNarrowTile;
}

// Channels that a core takes together in the second stage: whole blocks, so many that 48 cores have some. Not fewer than 64: memory
// delivers lines of 512 bytes, and a core that wants less of one waits as long.
constexpr uint32_t GroupNormBackwardShare(uint32_t channels) {
  const uint32_t share = (channels + 383) / 384 * 8;
  return share < 64 ? 64 : share;
}

// From one line of a tile to the next, in elements: lines of whole blocks of floats have no gap, others a block of their dtype each.
constexpr uint64_t GroupNormBackwardLinePitch(uint64_t line, uint32_t block) {
  return line % 8 == 0 ? line : (line + block - 1) / block * block;
}

// Whether lines are two or four elements, and groups: then they lie without a gap, and what a tile has room for is a block of numbers of
// each.
constexpr bool GroupNormBackwardIsShort(uint64_t spatial, uint64_t channels, uint64_t groups) {
  return channels == groups && channels % 8 == 0 && (spatial == 2 || spatial == 4);
}

// Groups of a tile: those of one or more whole samples, or some of a sample: whichever leaves the core with the most work the least of
// it. 0: a tile would hold fewer than three groups, or, where a row is a single element and a piece would be mostly padding, not one.
inline uint32_t GroupNormBackwardTileGroups(const GroupNormBackwardTilingData& tiling, uint32_t block, uint32_t worth,
                                            bool activates) {
  const auto parts = [](uint64_t whole, uint64_t most) { return (whole + most - 1) / most; };
  const uint64_t line = tiling.spatial == 1 ? tiling.channelsPerGroup : tiling.spatial;
  const bool numbers = GroupNormBackwardIsShort(tiling.spatial, tiling.channels, tiling.groups);
  const uint64_t width =
      numbers ? 8 : GroupNormBackwardLinePitch(line, block) * (tiling.spatial == 1 ? 1 : tiling.channelsPerGroup);
  const uint64_t whole = GroupNormBackwardTile(32 / block, activates);
  const uint64_t limit = tiling.spatial == 1 ? whole : whole / 3;
  if (width == 0 || width > limit || tiling.totalGroups == 0) return 0;
  const uint64_t total = tiling.totalGroups, groups = tiling.groups;
  const uint64_t fit = whole / width;
  const uint64_t largest = fit < total ? fit : total;
  uint64_t best = 1, least = UINT64_MAX;
  const auto consider = [&](uint64_t tile, uint64_t tiles) {
    uint64_t cost = 0;
    for (const uint32_t chip : kGroupNormBackwardCores)
      cost += parts(tiles, chip < worth ? chip : worth) * (tile * width + kGroupNormBackwardSmallCost);
    if (cost >= least) return;
    least = cost;
    best = tile;
  };
  for (uint64_t tile = largest / groups * groups; tile > 0; tile -= groups) consider(tile, parts(total, tile));
  for (uint64_t tile = largest < groups ? largest : groups; tile > 0; --tile)
    consider(tile, parts(groups, tile) * tiling.batch);
  return static_cast<uint32_t>(best);
}

// The fewest cores that leave the busiest no more of `all` equal parts than `cores` do: the others would only have less.
inline int64_t GroupNormBackwardFewestCores(int64_t all, int64_t cores) {
  const int64_t most = (all + cores - 1) / cores;
  return (all + most - 1) / most;
}

// How many cores are worth starting: with a of them the launch takes a starts, and the work the a-th part of all of it, so that the best
// number is the root of work by start. Then as few as give no core more groups.
inline int32_t GroupNormBackwardCoresWorthIt(int64_t n, int64_t c, int64_t s, int64_t groups, int32_t cores,
                                             uint32_t block, bool activates) {
  if (n <= 0 || c <= 0 || s <= 0 || groups <= 0 || c % groups != 0) return cores;
  const int64_t line = s == 1 ? c / groups : s;
  const uint64_t sizes[3] = {static_cast<uint64_t>(s), static_cast<uint64_t>(c), static_cast<uint64_t>(groups)};
  const double padded = GroupNormBackwardIsShort(sizes[0], sizes[1], sizes[2])
                            ? 8.0
                            : static_cast<double>(GroupNormBackwardLinePitch(static_cast<uint64_t>(line), block)) *
                                  (s == 1 ? 1.0 : static_cast<double>(c / groups));
  const double total = static_cast<double>(n) * static_cast<double>(groups);
  const double start =
      (padded <= kGroupNormBackwardSmallTile / 3 ? kGroupNormBackwardSmallStart : kGroupNormBackwardStart) /
      (activates ? kGroupNormBackwardActivation : 1.0);
  int32_t some = 1;
  while (some < cores && some * start * some < padded * total) ++some;
  if (some >= cores || total < some) return some < cores ? some : cores;
  return static_cast<int32_t>(GroupNormBackwardFewestCores(n * groups, some));
}

// The same cores' groups, tiles, or chunks of shared groups, on the fewest; but on `least` for the second stage.
inline void DealGroupNormBackwardEvenly(GroupNormBackwardTilingData* tiling, uint32_t least) {
  const auto fewest = [&](uint32_t all) {
    const uint32_t few = static_cast<uint32_t>(GroupNormBackwardFewestCores(all, tiling->usedCores));
    return few < least ? tiling->usedCores : few;
  };
  if (tiling->usedCores == 0) return;
  if (tiling->extraGroups > 0) {
    const uint32_t all = tiling->groupsPerCore * tiling->usedCores + tiling->extraGroups;
    tiling->usedCores = fewest(all);
    tiling->groupsPerCore = all / tiling->usedCores;
    tiling->extraGroups = all % tiling->usedCores;
  } else if (tiling->sharedGroups > 0 && tiling->groupsPerCore == 0) {
    tiling->usedCores = fewest(tiling->sharedGroups * ((tiling->groupPieces - 1) / tiling->chunkPieces + 1));
  }
}

// The same for step 5: tiles of small groups where a tile holds several, otherwise groups in pieces.
inline const char* MakeGroupNormBackwardAnyTiling(int64_t n, int64_t c, int64_t s, int64_t groups, int32_t cores,
                                                  int32_t mask, int32_t dtype, GroupNormBackwardTilingData* tiling,
                                                  bool activates = false) {
  GroupNormBackwardTilingData made;
  const int32_t worth = GroupNormBackwardCoresWorthIt(n, c, s, groups, kGroupNormBackwardCores[0],
                                                      dtype == kGroupNormBackwardFloat ? 8 : 16, activates);
  cores = cores < worth ? cores : worth;
  const char* refused = MakeGroupNormBackwardPiecesTiling(n, c, s, groups, cores, mask, dtype, &made,
                                                          static_cast<uint32_t>(worth), activates);
  if (refused != nullptr) return refused;
  const uint32_t tile = mask == 0 ? 0
                                  : GroupNormBackwardTileGroups(made, dtype == kGroupNormBackwardFloat ? 8 : 16,
                                                                static_cast<uint32_t>(worth), activates);
  if (tile != 0) {
    const bool samples = tile % made.groups == 0;
    const uint32_t unit = samples ? made.totalGroups : made.groups;
    const uint32_t unitTiles = (unit + tile - 1) / tile;
    const uint32_t tiles = samples ? unitTiles : unitTiles * made.batch;
    const bool parameters = (made.mask & (kGroupNormWantDgamma | kGroupNormWantDbeta)) != 0;
    const uint32_t share = GroupNormBackwardShare(made.channels);
    const uint32_t shares = parameters ? (made.channels + share - 1) / share : 0;
    const uint32_t work = tiles > shares ? tiles : shares;
    made.tilingKey = kGroupNormBackwardSmallWay + static_cast<uint32_t>(dtype);
    made.tileGroups = tile;
    made.sharedGroups = 0;
    made.usedCores = work < static_cast<uint32_t>(cores) ? work : static_cast<uint32_t>(cores);
    made.groupsPerCore = tiles / made.usedCores;
    made.extraGroups = tiles % made.usedCores;
    DealGroupNormBackwardEvenly(&made, shares);
    made.tableEntries = parameters ? (samples ? tiles : made.batch) * made.channels : 0;
    made.workspaceBytes = static_cast<uint32_t>(2 * sizeof(float)) * made.tableEntries;
  } else {
    DealGroupNormBackwardEvenly(&made, 1);
  }
  *tiling = made;
  return nullptr;
}

// The same for the kernel in which dy goes through SiLU first.
inline const char* MakeGroupNormSiluBackwardTiling(int64_t n, int64_t c, int64_t s, int64_t groups, int32_t cores,
                                                   int32_t mask, int32_t dtype, GroupNormBackwardTilingData* tiling) {
  return MakeGroupNormBackwardAnyTiling(n, c, s, groups, cores, mask, dtype, tiling, true);
}
