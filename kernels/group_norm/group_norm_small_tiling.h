// The local memory of step 6, in numbers: how a tile of small groups lies there and what else it needs. The tiling chooses the largest
// tiles that fit, and the kernel makes its buffers of the same numbers.
//
// Plain C++, as the tiling header.
#pragma once
#include <cstdint>

// Of one tile. A line is a channel, or, where a channel is a single element, a group. Elements are those of x, numbers and blocks are
// floats.
struct GroupNormSmallRoom {
  uint32_t length;    // elements of a line
  uint32_t pitch;     // from one line to the next
  uint32_t lines;     // of a group
  uint32_t perBlock;  // lines that share a block of eight floats; 1: each begins with a block
  uint32_t width;     // of a group: lines * pitch
  uint32_t tile;      // elements of a tile, whole repeats of 64
  uint32_t numbers;   // one for each group, whole repeats where lines share blocks
  uint32_t scratch;   // squares; a block of numbers for each line
  uint32_t sums;      // on their way, for two of a group at once; a block of numbers for each line
  uint32_t half;      // of sums: where the second round of them begins
  uint32_t
      affine;  // gamma, and as much of beta: as long as x where they differ inside a line, a block for each of several lines
  uint32_t row;    // and before that, as numbers of channels
  uint32_t comes;  // elements of gamma as it comes
  uint32_t away;   // bytes before scratch that stay empty: what is read together with x lies in other banks then
  uint32_t bytes;  // of all that
};

constexpr uint32_t kGroupNormSmallSlots = 3;          // tiles on their way
constexpr uint32_t kGroupNormRoomBytes = 190 * 1024;  // of the 192 KiB of local memory
constexpr uint32_t kGroupNormBankBytes = 64 * 1024;   // from one bank of a bank group to the next
constexpr uint32_t kGroupNormTileBytes = 512;         // tiles begin where bank groups do
constexpr uint32_t kGroupNormGap = 64;                // floats: half the bank groups
constexpr uint32_t kGroupNormGroupBlocks = 960;       // floats: a block for each of some groups

constexpr uint64_t GroupNormRoundUp(uint64_t number, uint64_t step) { return (number + step - 1) / step * step; }

// From one line of a tile to the next, in elements: lines of whole blocks of floats have no gap, others a block of their dtype each.
constexpr uint64_t GroupNormLinePitch(uint64_t line, uint32_t block) {
  return line % 8 == 0 ? line : (line + block - 1) / block * block;
}

// Lines of two or four elements lie without a gap, where each is a group: blocks of their own would be mostly padding.
constexpr uint32_t GroupNormLinesPerBlock(uint64_t length, uint64_t lines, uint64_t channels) {
  return lines == 1 && (length == 2 || length == 4) && channels % 8 == 0 ? static_cast<uint32_t>(8 / length) : 1;
}

// The elements that a group takes in a tile.
constexpr uint64_t GroupNormGroupWidth(uint64_t channels, uint64_t spatial, uint64_t groups, uint32_t block) {
  const uint64_t length = spatial == 1 ? channels / groups : spatial;
  const uint64_t lines = spatial == 1 ? 1 : channels / groups;
  if (GroupNormLinesPerBlock(length, lines, channels) > 1) return length;
  return lines * GroupNormLinePitch(length, block);
}

// For tiles of `tileGroups` groups; 32 bytes hold `block` elements of x, floats or halves.
constexpr GroupNormSmallRoom GroupNormRoomOf(uint64_t channels, uint64_t spatial, uint64_t groups, uint64_t tileGroups,
                                             uint32_t block) {
  const bool perElement = spatial == 1;
  const uint64_t lines = perElement ? 1 : channels / groups;
  const uint64_t length = perElement ? channels / groups : spatial;
  const uint64_t perBlock = GroupNormLinesPerBlock(length, lines, channels);
  const uint64_t width = GroupNormGroupWidth(channels, spatial, groups, block);
  const uint64_t pitch = width / lines;
  const uint64_t tile = GroupNormRoundUp(tileGroups * width, 64);
  const uint64_t numbers = perBlock > 1 ? tile / length : GroupNormRoundUp(tileGroups, 8);
  const uint64_t first = 2 * numbers * ((width + 63) / 64) * 8;  // sums of eight, of x and of its squares
  const uint64_t second = width > 64 ? 2 * numbers * ((width + 511) / 512) * 8 : 0;
  const uint64_t half = perBlock > 1 || width == 8 ? 0 : first;
  const uint64_t blocks = lines > 1 ? tileGroups * lines * 8 : 0;
  const uint64_t rounds = perBlock > 1 ? tile / 2 : half + second;
  const uint64_t sums = GroupNormRoundUp(rounds < blocks ? blocks : rounds, 128);
  const uint64_t most = perBlock > 1 ? numbers * 8 : lines == 1 && pitch <= 64 ? numbers * pitch : tile;
  const uint64_t scratch = GroupNormRoundUp(most, 128);
  const uint64_t affine = perElement ? tile : lines > 1 ? GroupNormRoundUp(tileGroups * lines, 8) * 8 : 0;
  const uint64_t row = perElement ? 0 : GroupNormRoundUp(tileGroups * lines, 16) + (lines > 1 ? 0 : numbers);
  const uint64_t comes = block == 8   ? 0
                         : perElement ? GroupNormRoundUp(tile, 16)
                                      : GroupNormRoundUp(tileGroups * lines, 16);
  const uint64_t aligned = GroupNormRoundUp(affine, 128);

  // In this order: x as floats, which for float are the slots; numbers; for others the slots; and what is read together with x.
  const uint64_t wide = GroupNormRoundUp(tile * 4, kGroupNormTileBytes);
  const uint64_t slots = kGroupNormSmallSlots * GroupNormRoundUp(tile * (block == 8 ? 4 : 2), kGroupNormTileBytes);
  const uint64_t before = (block == 8 ? slots : wide + 4 * comes) + (2 * row + 6 * numbers + kGroupNormGroupBlocks) * 4;
  const uint64_t behind = (block == 8 ? 0 : slots) + (kGroupNormGap + scratch + sums + 2 * aligned) * 4;
  const uint64_t banks = GroupNormRoundUp(before, kGroupNormBankBytes);
  const uint64_t begin = banks + behind <= kGroupNormRoomBytes ? banks : GroupNormRoundUp(before, kGroupNormTileBytes);
  GroupNormSmallRoom room{};
  room.length = static_cast<uint32_t>(length);
  room.pitch = static_cast<uint32_t>(pitch);
  room.lines = static_cast<uint32_t>(lines);
  room.perBlock = static_cast<uint32_t>(perBlock);
  room.width = static_cast<uint32_t>(width);
  room.tile = static_cast<uint32_t>(tile);
  room.numbers = static_cast<uint32_t>(numbers);
  room.scratch = static_cast<uint32_t>(scratch);
  room.sums = static_cast<uint32_t>(sums);
  room.half = static_cast<uint32_t>(half);
  room.affine = static_cast<uint32_t>(aligned);
  room.row = static_cast<uint32_t>(row);
  room.comes = static_cast<uint32_t>(comes);
  room.away = static_cast<uint32_t>(begin - before);
  room.bytes = static_cast<uint32_t>(begin + behind);
  return room;
}
