// How GroupNorm of a channels-last tensor is divided: the numbers that the kernel reads, and the host function that computes them.
// Plain C++, for the same four sides as group_norm_tiling.h.
//
// x is (N, S, C) in memory: each sample is a matrix of S rows of C channels, and a group is some columns of it. A strip is the columns
// of one or more groups of a sample; its columns are dealt with in parts, of which there are several only where a group is very wide.
// A part is taken in pieces of some rows, and pieces form chunks, whose statistics are taken together.
#pragma once
#include <cstdint>
#include <initializer_list>

struct GroupNormNhwcTilingData {
  uint32_t channels;          // C
  uint32_t spatial;           // S: product of the spatial axes, 1 if there are none
  uint32_t groups;            // G
  uint32_t channelsPerGroup;  // C / G
  uint32_t groupElements;     // C / G * S
  uint32_t totalGroups;       // N * G
  uint32_t usedCores;         // blocks to launch
  float eps;                  // added to the variance
  uint32_t dtype;             // of x, as CANN numbers it
  uint32_t stripGroups;       // groups of a strip, the last of a sample may have fewer
  uint32_t sampleStrips;      // strips of a sample
  uint32_t parts;             // of a strip
  uint32_t partChannels;      // columns of a part, the last may have fewer
  uint32_t periodRows;      // rows of x in a period: whole blocks of local memory, and the same channels again after it
  uint32_t periodElements;  // floats of a period
  uint32_t pieceRows;       // rows of x in a piece, whole periods
  uint32_t partPieces;      // pieces of a part
  uint32_t chunkPieces;     // pieces of a chunk
  uint32_t partChunks;      // chunks of a part
  uint32_t slots;           // pieces of x in local memory at once
  uint32_t tableLanes;      // floats that hold a number for each group of a strip
  uint32_t gatherLanes;     // floats of a period, ordered by groups
  uint32_t sumPeriods;      // periods that the sums of a chunk are kept in
  uint32_t stripsPerCore;   // every core takes this many strips,
  uint32_t extraStrips;     // the first extraStrips cores one more,
  uint32_t sharedStrips;    // and the last ones are divided among all cores
  uint32_t workspaceBytes;  // for their statistics
  uint32_t workFloats;      // of the first work buffer,
  uint32_t otherFloats;     // and of the second
  uint32_t repeatedPeriods;  // how often a vector of a period is repeated, so that one instruction does for a piece
};

// Of 192 KiB of local memory; a piece is 4096 elements, or less where cores would have few; tables of 2048 floats; and the cores of
// both kinds of Atlas A2, whatever it runs on, because chunks decide the bits of the sums.
constexpr uint32_t kNhwcLocalFloats = 192 * 1024 / 4;
constexpr uint32_t kNhwcPiece = 4096;
constexpr uint32_t kNhwcSmallestPiece = 1024;
constexpr uint32_t kNhwcTable = 2048;
constexpr uint32_t kNhwcMostSlots = 6;
constexpr uint32_t kNhwcCores = 48;
constexpr uint32_t kNhwcFewerCores = 40;
// The longest period: of more, each row is on blocks of its own. An odd number of channels has periods of eight rows.
constexpr uint32_t kNhwcPeriod = 2080;
constexpr uint32_t kNhwcColumns = 1024;
// Strips of fewer groups where there are fewer samples than cores: the table has room for more chunks of each.
constexpr uint32_t kNhwcGroups = 64;
// What a piece and a chunk cost, in cycles: about 8 bytes a cycle, and 40 short instructions.
constexpr uint64_t kNhwcPieceCost = 2000;
constexpr uint64_t kNhwcChunkCost = 1500;

inline uint64_t NhwcParts(uint64_t whole, uint64_t most) { return (whole + most - 1) / most; }
inline uint64_t NhwcRoundUp(uint64_t number, uint64_t step) { return NhwcParts(number, step) * step; }

// Rows of a period where rows follow each other without a gap: whole blocks of eight floats, and of such periods that many together
// that instructions are few, which take 64 floats at once and about 24 cycles to start.
inline uint64_t NhwcPeriodRows(uint64_t channels, uint64_t spatial) {
  uint64_t least = 8;
  while (least > 1 && channels * (least / 2) % 8 == 0) least /= 2;
  uint64_t best = 1, cheapest = UINT64_MAX;
  for (uint64_t times = 1; times <= 8 && (times == 1 || (times * least * channels <= 1024 && times * least <= spatial));
       ++times) {
    const uint64_t period = times * least * channels;
    const uint64_t cost = NhwcParts(period, 64) * (24 + kNhwcPiece / period);
    if (cost >= cheapest) continue;
    cheapest = cost;
    best = times;
  }
  return best * least;
}

// Floats of the sums of a chunk, with eight zeros behind them; whole lines of the banks of local memory, 512 bytes.
inline uint64_t NhwcSumFloats(uint64_t periods, uint64_t period) { return NhwcRoundUp(periods * period + 8, 128); }

// Floats of local memory besides the slots, and the sizes that they follow from; `elements` of x in 32 bytes.
inline uint64_t NhwcSizes(GroupNormNhwcTilingData* tiling, uint64_t strip_groups, uint64_t group_width) {
  const uint64_t period = tiling->periodElements, rows = tiling->periodRows;
  const uint64_t periods = tiling->pieceRows / rows, chunks = static_cast<uint64_t>(tiling->parts) * tiling->partChunks;
  const uint64_t lanes = NhwcRoundUp(strip_groups, 8);
  const uint64_t of_group = rows * group_width;
  const uint64_t gathered = of_group >= 8 ? NhwcRoundUp(of_group, 8) * strip_groups : of_group * lanes;
  const uint64_t sums = period >= kNhwcColumns ? 1 : kNhwcColumns / period;
  const auto larger = [](uint64_t a, uint64_t b) { return a > b ? a : b; };
  const uint64_t table = chunks * lanes;
  tiling->tableLanes = static_cast<uint32_t>(lanes);
  tiling->gatherLanes = static_cast<uint32_t>(gathered);
  tiling->sumPeriods = static_cast<uint32_t>(sums < periods ? sums : periods);
  tiling->workFloats = static_cast<uint32_t>(NhwcRoundUp(larger(larger(periods * period, gathered), table), 128));
  tiling->otherFloats =
      static_cast<uint32_t>(NhwcRoundUp(larger(larger((periods + 1) / 2 * period + 8, gathered), table), 128));
  const uint64_t sum_floats = NhwcSumFloats(tiling->sumPeriods, period);
  return tiling->workFloats + tiling->otherFloats + 2 * sum_floats + 3 * period * tiling->repeatedPeriods + 64 +
         NhwcRoundUp(3 * period + gathered, 128) + 3 * table + 5 * lanes + NhwcRoundUp(2 * lanes, 128) + 64;
}

// Bytes of a slot of local memory: a piece, in whole lines of the banks. `block` elements of x are 32 bytes.
inline uint32_t NhwcSlotBytes(const GroupNormNhwcTilingData* tiling, uint32_t block) {
  const uint64_t elements = static_cast<uint64_t>(tiling->pieceRows / tiling->periodRows) * tiling->periodElements;
  return static_cast<uint32_t>(NhwcRoundUp(elements * 32 / block, 512));
}

// Sets slots and repeatedPeriods by what is left of local memory; false if there is no room for two pieces of x and two of y.
inline bool NhwcFits(GroupNormNhwcTilingData* tiling, uint64_t group_width, uint32_t block) {
  const uint64_t slot = NhwcSlotBytes(tiling, block) / 4;
  uint64_t fixed = NhwcSizes(tiling, tiling->stripGroups, group_width);
  if (fixed + 5 * slot > kNhwcLocalFloats) {
    tiling->repeatedPeriods = 1;
    fixed = NhwcSizes(tiling, tiling->stripGroups, group_width);
  }
  if (fixed + 4 * slot > kNhwcLocalFloats) return false;
  const uint64_t slots = (kNhwcLocalFloats - fixed) / slot - 2;
  tiling->slots = static_cast<uint32_t>(slots < kNhwcMostSlots ? slots : kNhwcMostSlots);
  return true;
}

// What a kernel does with its pieces: the longest period and the elements of one, whether cores divide all strips or only what is left
// over, and NhwcFits of its own.
struct NhwcWay {
  uint64_t period;
  uint64_t piece;
  bool all_shared;
  bool (*fits)(GroupNormNhwcTilingData*, uint64_t group_width, uint32_t block);
};

// Pieces and chunks of parts of `width` columns; false if local memory has no room for them.
inline bool MakeNhwcPieces(GroupNormNhwcTilingData* tiling, const NhwcWay& way, uint64_t samples, uint64_t width,
                           uint64_t group_width, uint32_t block) {
  const uint64_t spatial = tiling->spatial, whole = tiling->channels;
  const uint64_t gapless_rows = NhwcPeriodRows(whole, spatial);
  const bool gapless = width == whole && tiling->parts == 1 && gapless_rows * whole <= way.period;
  const uint64_t rows = gapless ? gapless_rows : 1;
  const uint64_t period = gapless ? rows * whole : NhwcRoundUp(width, block);
  if (period > way.period) return false;
  const uint64_t of_core = NhwcParts(samples * spatial * whole, kNhwcCores) / 2;
  uint64_t target = of_core < kNhwcSmallestPiece ? kNhwcSmallestPiece : of_core;
  if (target > way.piece) target = way.piece;
  const uint64_t most = (target < period ? 1 : target / period) * rows;
  const uint64_t piece = NhwcRoundUp(NhwcParts(spatial, NhwcParts(spatial, most)), rows);
  const uint64_t pieces = NhwcParts(spatial, piece);
  const uint64_t lanes = NhwcRoundUp(tiling->stripGroups, 8);
  if (tiling->parts * lanes > kNhwcTable) return false;
  // The chunks with which the core that has most to do has the least, if strips that are left over are divided.
  const uint64_t strips = samples * tiling->sampleStrips;
  uint64_t chunk = pieces, least = UINT64_MAX;
  for (uint64_t number = 1; number <= pieces && tiling->parts * number * lanes <= kNhwcTable; ++number) {
    const uint64_t size = NhwcParts(pieces, number), of_strip = tiling->parts * NhwcParts(pieces, size);
    uint64_t cost = 0;
    for (const uint64_t cores : {kNhwcCores, kNhwcFewerCores}) {
      const uint64_t shared = way.all_shared ? strips : strips % cores;
      cost += (strips - shared) / cores * of_strip * kNhwcChunkCost +
              NhwcParts(shared * of_strip, cores) * (size * kNhwcPieceCost + kNhwcChunkCost);
    }
    if (cost >= least) continue;
    least = cost;
    chunk = size;
  }
  tiling->partChannels = static_cast<uint32_t>(width);
  tiling->periodRows = static_cast<uint32_t>(rows);
  tiling->periodElements = static_cast<uint32_t>(period);
  tiling->pieceRows = static_cast<uint32_t>(piece);
  tiling->partPieces = static_cast<uint32_t>(pieces);
  tiling->chunkPieces = static_cast<uint32_t>(chunk);
  tiling->partChunks = static_cast<uint32_t>(NhwcParts(pieces, chunk));
  tiling->repeatedPeriods = static_cast<uint32_t>(piece / rows);
  return way.fits(tiling, group_width, block);
}

// Sizes, strips, pieces and chunks of x of shape (n, s, c) in `groups` groups, whatever cores take which. Returns nullptr, or the reason
// why these arguments are refused. Without samples there are the sizes only.
inline const char* DivideNhwc(int64_t n, int64_t s, int64_t c, int64_t groups, int32_t cores, int32_t dtype,
                              const NhwcWay& way, GroupNormNhwcTilingData* tiling) {
  constexpr int64_t kLimit = INT32_MAX;
  constexpr int64_t kWidest = static_cast<int64_t>(kNhwcColumns) * kNhwcTable / 8;
  if (dtype != 0 && dtype != 1 && dtype != 27) return "x must be float32, float16 or bfloat16";
  if (n < 0 || c < 0 || s < 0) return "a dimension of x is negative";
  if (groups <= 0) return "num_groups must be positive";
  if (c == 0) return "x has no channels (C = 0)";
  if (s == 0 && n > 0) return "a spatial axis of x has length 0: a group without elements has no mean";
  if (c % groups != 0) return "the number of channels C must be divisible by num_groups";
  if (cores <= 0) return "the number of cores must be positive";
  if (c > kLimit || s > kLimit || (s > 0 && c / groups > kLimit / s))
    return "a group of x has more than 2147483647 elements";
  if (n > 0 && groups > kLimit / n) return "x has more than 2147483647 groups (N * num_groups)";
  if (c / groups > kWidest)
    return "a group has more than 262144 channels: channels-last x of this width is not supported";

  const uint32_t block = dtype == 0 ? 8 : 16;
  *tiling = GroupNormNhwcTilingData{};
  tiling->channels = static_cast<uint32_t>(c);
  tiling->spatial = static_cast<uint32_t>(s);
  tiling->groups = static_cast<uint32_t>(groups);
  tiling->channelsPerGroup = static_cast<uint32_t>(c / groups);
  tiling->groupElements = static_cast<uint32_t>(c / groups * s);
  tiling->totalGroups = static_cast<uint32_t>(n * groups);
  tiling->dtype = static_cast<uint32_t>(dtype);
  if (n == 0) return nullptr;

  const uint64_t samples = static_cast<uint64_t>(n), width = tiling->channelsPerGroup, all = tiling->groups;
  const uint64_t most_groups = samples < kNhwcCores ? kNhwcGroups : kNhwcColumns;
  tiling->parts = 1;
  tiling->sampleStrips = 1;
  tiling->stripGroups = tiling->groups;
  if (all > most_groups || !MakeNhwcPieces(tiling, way, samples, tiling->channels, width, block)) {
    if (width > kNhwcColumns) {
      const uint64_t parts = NhwcParts(width, kNhwcColumns), part = NhwcRoundUp(NhwcParts(width, parts), 16);
      tiling->stripGroups = 1;
      tiling->sampleStrips = tiling->groups;
      tiling->parts = static_cast<uint32_t>(NhwcParts(width, part));
      if (!MakeNhwcPieces(tiling, way, samples, part, part, block)) return "x is too large";
    } else {
      uint64_t most = kNhwcColumns / width < most_groups ? kNhwcColumns / width : most_groups;
      if (most > all) most = all;
      // The tables of a strip may need more than local memory: then strips have half the groups.
      for (uint64_t strips = NhwcParts(all, most);; strips *= 2) {
        tiling->stripGroups = static_cast<uint32_t>(NhwcParts(all, strips));
        tiling->sampleStrips = static_cast<uint32_t>(NhwcParts(all, tiling->stripGroups));
        if (MakeNhwcPieces(tiling, way, samples, tiling->stripGroups * width, width, block)) break;
        if (tiling->stripGroups == 1) return "x is too large";
      }
    }
  }
  if (samples * tiling->sampleStrips * tiling->parts * tiling->partPieces > static_cast<uint64_t>(kLimit))
    return "x has too many elements";
  return nullptr;
}

// Fills *tiling for x of shape (n, s, c) in `groups` groups, on at most `cores` cores. Returns nullptr, or the reason why these
// arguments are refused.
inline const char* MakeGroupNormNhwcTiling(int64_t n, int64_t s, int64_t c, int64_t groups, float eps, int32_t cores,
                                           int32_t dtype, GroupNormNhwcTilingData* tiling) {
  if (!(eps > 0.0f) || eps > 3.0e38f) return "eps must be positive and finite";
  const char* const refused =
      DivideNhwc(n, s, c, groups, cores, dtype, {kNhwcPeriod, kNhwcPiece, false, NhwcFits}, tiling);
  if (refused != nullptr || n == 0) return refused;
  tiling->eps = eps;
  const uint64_t strips = static_cast<uint64_t>(n) * tiling->sampleStrips, launched = static_cast<uint64_t>(cores);
  const uint64_t left = strips % launched, of_strip = static_cast<uint64_t>(tiling->parts) * tiling->partChunks;
  const bool divide = left > 0 && NhwcParts(left * of_strip, launched) < of_strip;
  tiling->sharedStrips = divide ? static_cast<uint32_t>(left) : 0;
  tiling->workspaceBytes =
      static_cast<uint32_t>(tiling->sharedStrips * of_strip * 3 * tiling->tableLanes * sizeof(float));
  uint64_t used = strips < launched ? strips : launched;
  if (divide) used = strips < launched && left * of_strip < launched ? left * of_strip : launched;
  const uint64_t whole = strips - tiling->sharedStrips;
  tiling->usedCores = static_cast<uint32_t>(used);
  tiling->stripsPerCore = static_cast<uint32_t>(whole / used);
  tiling->extraStrips = static_cast<uint32_t>(whole % used);
  return nullptr;
}
