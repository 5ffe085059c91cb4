// Lines of two or four floats, several in a block of eight, for operators that work on groups. An instruction takes the same line of
// every block, by its mask; for all lines it is given as often as a block has lines. Elements without a number of their line, such as
// squares, need no mask.
#pragma once
#include "common_lines.h"
#include "kernel_operator.h"

// The lanes of line `index` of each block, in a repeat.
struct ShortLineMask {
  uint64_t lanes[2];
  __aicore__ inline ShortLineMask(uint32_t index, uint32_t length)
      : lanes{0x0101010101010101ull * (((1ull << length) - 1) << (index * length)), 0} {}
};

// dst = src op number, with a block of eight equal floats for each line. Lines fill whole repeats.
template <LineOp op>
__aicore__ inline void ApplyToShortLines(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& src,
                                         const AscendC::LocalTensor<float>& blocks, uint32_t lines, uint32_t length) {
  const uint32_t perBlock = 8 / length, repeats = lines * length / 64;
  for (uint32_t at = 0; at < repeats; at += kLinesAtOnce) {
    const uint32_t count = repeats - at < kLinesAtOnce ? repeats - at : kLinesAtOnce;
    for (uint32_t index = 0; index < perBlock; ++index) {
      ShortLineMask mask(index, length);
      const AscendC::BinaryRepeatParams steps(1, 1, static_cast<uint8_t>(perBlock), 8, 8,
                                              static_cast<uint8_t>(8 * perBlock));
      BinaryOf<op>(dst[at * 64], src[at * 64], blocks[(at * 8 * perBlock + index) * 8], mask.lanes,
                   static_cast<uint8_t>(count), steps);
    }
  }
}

// sums[i] = sum of line i; lines fill whole repeats. Each round adds neighbours. space: a quarter of the floats of all lines, where these
// have four.
__aicore__ inline void SumShortLines(const AscendC::LocalTensor<float>& sums, AscendC::LocalTensor<float> src,
                                     const AscendC::LocalTensor<float>& space, uint32_t lines, uint32_t length) {
  for (; length > 1; length /= 2) {
    const AscendC::LocalTensor<float> dst = length == 2 ? sums : space;
    const uint32_t repeats = lines * length / 64, rest = lines * length % 64;
    for (uint32_t at = 0; at < repeats; at += kLinesAtOnce) {
      const uint32_t count = repeats - at < kLinesAtOnce ? repeats - at : kLinesAtOnce;
      AscendC::PairReduceSum(dst[at * 32], src[at * 64], static_cast<int32_t>(count), 64, 1, 1, 8);
    }
    if (rest > 0) AscendC::PairReduceSum(dst[repeats * 32], src[repeats * 64], 1, static_cast<int32_t>(rest), 1, 1, 8);
    src = dst;
  }
}
