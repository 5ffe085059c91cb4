// How the gradients of GroupNorm of a channels-last tensor are divided: as its forward pass, see group_norm_nhwc_tiling.h for the words,
// but all cores divide the chunks of all strips, since sums of channels need a meeting of the cores in any case.
//
// The workspace has, for each chunk, the sums of its groups: a record of three rows of tableLanes floats. Behind these are two tables of
// lines of `channels` floats, sum(dy) and sum(dy * (x - mean)), `recordRows` lines for each chunk of the rows of a sample.
#pragma once
#include <cstdint>

#include "group_norm_nhwc_tiling.h"

struct GroupNormBackwardNhwcTilingData {
  uint32_t channels;          // C
  uint32_t spatial;           // S: product of the spatial axes, 1 if there are none
  uint32_t groups;            // G
  uint32_t channelsPerGroup;  // C / G
  uint32_t groupElements;     // C / G * S
  uint32_t totalGroups;       // N * G
  uint32_t usedCores;         // blocks to launch
  uint32_t mask;              // which gradients are wanted: dx, dgamma and dbeta, from the lowest bit on
  uint32_t dtype;             // of x, as CANN numbers it
  uint32_t stripGroups;       // from here on, if not said otherwise, as in GroupNormNhwcTilingData
  uint32_t sampleStrips;
  uint32_t parts;
  uint32_t partChannels;
  uint32_t periodRows;
  uint32_t periodElements;
  uint32_t pieceRows;
  uint32_t partPieces;
  uint32_t chunkPieces;
  uint32_t partChunks;
  uint32_t slots;  // pieces of x and dy in local memory at once
  uint32_t tableLanes;
  uint32_t gatherLanes;
  uint32_t sumPeriods;
  uint32_t repeatedPeriods;
  uint32_t workFloats;
  uint32_t otherFloats;
  uint32_t chunks;      // of all strips
  uint32_t recordRows;  // lines of a chunk
  uint32_t lines;       // of all chunks
  uint32_t workspaceBytes;
  uint32_t unused;  // CANN rounds the size of tiling data up to eight bytes
};

constexpr uint32_t kNhwcWantDx = 1;
constexpr uint32_t kNhwcWantDgamma = 2;
constexpr uint32_t kNhwcWantDbeta = 4;
// A piece is one of x and one of dy; the bits of the sums depend on it.
constexpr uint64_t kNhwcBackwardPiece = 2048;
// The longest period: of more, each row is on blocks of its own. Parts have 1024 columns.
constexpr uint64_t kNhwcBackwardPeriod = 1040;
// Channels of a line that a core adds up at once: bursts of 128 bytes.
constexpr uint32_t kNhwcLineChannels = 32;

// Elements of a slot's half: a piece, in whole lines of the banks. `block` elements are 32 bytes.
inline uint32_t NhwcHalfSlot(const GroupNormNhwcTilingData* tiling, uint32_t block) {
  return NhwcSlotBytes(tiling, block) / 32 * block;
}

// Floats of local memory besides the slots and those of dx: the work buffers and gamma's tables as in the forward pass, a piece of dy as
// floats, three sums, five vectors of a period, the sums of all chunks of a strip, records on their way, numbers of groups.
inline uint64_t NhwcBackwardFixed(GroupNormNhwcTilingData* tiling, uint64_t group_width) {
  NhwcSizes(tiling, tiling->stripGroups, group_width);
  const uint64_t period = tiling->periodElements, lanes = tiling->tableLanes;
  const uint64_t chunks = static_cast<uint64_t>(tiling->parts) * tiling->partChunks;
  const uint64_t piece = tiling->pieceRows / tiling->periodRows * period;
  return tiling->workFloats + tiling->otherFloats + NhwcRoundUp(piece, 128) +
         3 * NhwcSumFloats(tiling->sumPeriods, period) + 5 * NhwcRoundUp(period * tiling->repeatedPeriods, 128) +
         NhwcRoundUp(3 * period + tiling->gatherLanes, 128) + NhwcRoundUp(3 * chunks * lanes, 128) +
         2 * NhwcRoundUp(3 * lanes + 2 * period, 128) + NhwcRoundUp(2 * period, 128) + 8 * NhwcRoundUp(lanes, 128);
}

inline bool NhwcBackwardFits(GroupNormNhwcTilingData* tiling, uint64_t group_width, uint32_t block) {
  const uint64_t slot = NhwcSlotBytes(tiling, block) / 4;
  uint64_t fixed = NhwcBackwardFixed(tiling, group_width);
  if (fixed + 8 * slot > kNhwcLocalFloats) {
    tiling->repeatedPeriods = 1;
    fixed = NhwcBackwardFixed(tiling, group_width);
  }
  if (fixed + 6 * slot > kNhwcLocalFloats) return false;
  const uint64_t slots = (kNhwcLocalFloats - fixed - 2 * slot) / (2 * slot);
  tiling->slots = static_cast<uint32_t>(slots < kNhwcMostSlots ? slots : kNhwcMostSlots);
  return true;
}

// Fills *tiling for x of shape (n, s, c) in `groups` groups, on at most `cores` cores; mask: as the struct has it. Returns nullptr, or the
// reason why these arguments are refused.
inline const char* MakeGroupNormBackwardNhwcTiling(int64_t n, int64_t s, int64_t c, int64_t groups, int32_t cores,
                                                   int32_t mask, int32_t dtype,
                                                   GroupNormBackwardNhwcTilingData* tiling) {
  constexpr uint32_t kAll = kNhwcWantDx | kNhwcWantDgamma | kNhwcWantDbeta;
  if (mask < 0 || mask > static_cast<int32_t>(kAll)) return "output_mask has three bits";
  GroupNormNhwcTilingData made{};
  // Without samples the sums are zeros, which are written all the same: the sizes of one sample serve for that.
  const NhwcWay way{kNhwcBackwardPeriod, kNhwcBackwardPiece, true, NhwcBackwardFits};
  const char* const refused = DivideNhwc(n == 0 ? 1 : n, n == 0 && s == 0 ? 1 : s, c, groups, cores, dtype, way, &made);
  if (refused != nullptr) return refused;
  const uint64_t samples = static_cast<uint64_t>(n), strips = samples * made.sampleStrips;
  const uint64_t chunks = strips * made.parts * made.partChunks;
  const uint64_t rows = made.channels % 8 == 0 ? 1 : made.periodRows, lines = samples * made.partChunks * rows;
  const bool sums = (static_cast<uint32_t>(mask) & (kNhwcWantDgamma | kNhwcWantDbeta)) != 0;
  const uint64_t floats = chunks * 3 * made.tableLanes + (sums ? 2 * lines * made.channels : 0);
  if (floats > UINT32_MAX / sizeof(float)) return "x is too large";
  const uint64_t launched = static_cast<uint64_t>(cores), shares = NhwcParts(made.channels, kNhwcLineChannels);
  const uint64_t used = sums && shares > chunks ? shares : chunks;
  *tiling = GroupNormBackwardNhwcTilingData{};
  tiling->channels = made.channels;
  tiling->spatial = made.spatial;
  tiling->groups = made.groups;
  tiling->channelsPerGroup = made.channelsPerGroup;
  tiling->groupElements = made.groupElements;
  tiling->totalGroups = static_cast<uint32_t>(samples * made.groups);
  tiling->usedCores = mask == 0 ? 0 : static_cast<uint32_t>(used < launched ? used : launched);
  tiling->mask = static_cast<uint32_t>(mask);
  tiling->dtype = made.dtype;
  tiling->stripGroups = made.stripGroups;
  tiling->sampleStrips = made.sampleStrips;
  tiling->parts = made.parts;
  tiling->partChannels = made.partChannels;
  tiling->periodRows = made.periodRows;
  tiling->periodElements = made.periodElements;
  tiling->pieceRows = made.pieceRows;
  tiling->partPieces = made.partPieces;
  tiling->chunkPieces = made.chunkPieces;
  tiling->partChunks = made.partChunks;
  tiling->slots = made.slots;
  tiling->tableLanes = made.tableLanes;
  tiling->gatherLanes = made.gatherLanes;
  tiling->sumPeriods = made.sumPeriods;
  tiling->repeatedPeriods = made.repeatedPeriods;
  tiling->workFloats = made.workFloats;
  tiling->otherFloats = made.otherFloats;
  tiling->chunks = static_cast<uint32_t>(chunks);
  tiling->recordRows = static_cast<uint32_t>(rows);
  tiling->lines = static_cast<uint32_t>(lines);
  tiling->workspaceBytes = static_cast<uint32_t>(floats * sizeof(float));
  return nullptr;
}
