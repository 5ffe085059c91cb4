// Many short lines at once, for operators that work on groups. A line is a run of floats in local memory: a channel, or a group; lines
// are `pitch` floats apart, whole blocks of eight. An instruction repeats over lines instead of along one, and takes one number for
// each line; where lines are few and long, it repeats along each. Which of the two changes no bit.
//
// What the hardware allows: at most 255 repeats, and no more than 255 blocks from one repeat to the next.
#pragma once
#include "kernel_operator.h"

constexpr uint32_t kLinesAtOnce = 248;  // the most repeats that are a multiple of eight

// Whether two instructions for each line are no more than one for every 64 floats of all lines. Lines have at most 255 blocks.
__aicore__ inline bool FewLongLines(uint32_t lines, uint32_t length) { return 2 * lines <= (length + 63) / 64; }

enum class LineOp { kAdd, kSub, kMul };

template <LineOp op, class... Form>
__aicore__ inline void BinaryOf(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& a,
                                const AscendC::LocalTensor<float>& b, Form... form) {
  if constexpr (op == LineOp::kAdd) AscendC::Add(dst, a, b, form...);
  if constexpr (op == LineOp::kSub) AscendC::Sub(dst, a, b, form...);
  if constexpr (op == LineOp::kMul) AscendC::Mul(dst, a, b, form...);
}

// dst = src op number, with a block of eight equal floats for each line, as Brcb makes them; these blocks are `step` blocks apart. A line
// and its block are read at once: if blocks are as far apart as lines and begin half the bank groups of local memory behind (64 floats),
// no repeat has a conflict; side by side, every other one does.
template <LineOp op>
__aicore__ inline void ApplyToLines(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& src,
                                    const AscendC::LocalTensor<float>& blocks, uint32_t lines, uint32_t length,
                                    uint32_t pitch, uint32_t step = 1) {
  if (pitch == 8) return BinaryOf<op>(dst, src, blocks, static_cast<int32_t>(lines * 8));  // a line is a block itself
  if (FewLongLines(lines, length)) {
    const uint32_t whole = length / 64, rest = length % 64;
    for (uint32_t line = 0; line < lines; ++line) {
      const uint32_t place = line * pitch;
      BinaryOf<op>(dst[place], src[place], blocks[line * 8 * step], uint64_t{64}, static_cast<uint8_t>(whole),
                   AscendC::BinaryRepeatParams(1, 1, 0, 8, 8, 0));
      if (rest == 0) continue;
      BinaryOf<op>(dst[place + whole * 64], src[place + whole * 64], blocks[line * 8 * step], uint64_t{rest},
                   uint8_t{1}, AscendC::BinaryRepeatParams(1, 1, 0, 8, 8, 0));
    }
    return;
  }
  const uint8_t apart = static_cast<uint8_t>(pitch / 8);
  for (uint32_t line = 0; line < lines; line += kLinesAtOnce) {
    const uint32_t count = lines - line < kLinesAtOnce ? lines - line : kLinesAtOnce;
    for (uint32_t at = 0; at < length; at += 64) {
      const uint64_t mask = length - at < 64 ? length - at : 64;
      const uint32_t place = line * pitch + at;
      BinaryOf<op>(dst[place], src[place], blocks[line * 8 * step], mask, static_cast<uint8_t>(count),
                   AscendC::BinaryRepeatParams(1, 1, 0, apart, apart, static_cast<uint8_t>(step)));
    }
  }
}

// Groups of a run of lines in BlocksOfGroups, and the floats of its space.
constexpr uint32_t kGroupsAtOnce = 120;
constexpr uint32_t kBlocksOfGroups = kGroupsAtOnce * 8;

// What an instruction does with the blocks of some lines and a number for each group: eight lines of every group, or, where groups
// are few and have many lines, all lines of one.
struct LineRun {
  uint32_t group;
  uint32_t line;
  uint64_t lanes;
  uint8_t repeats;
  uint8_t apart;  // blocks from one repeat to the next,
  uint8_t next;   // and from its number to the next one's
};

__aicore__ inline bool RunsOverGroups(uint32_t groups, uint32_t lines) { return (lines + 7) / 8 <= groups; }
__aicore__ inline uint32_t CountLineRuns(uint32_t groups, uint32_t lines) {
  if (RunsOverGroups(groups, lines)) return (lines + 7) / 8;
  return lines % 8 == 0 ? groups : 2 * groups;  // what fills no repeat is a run of its own
}
__aicore__ inline LineRun FindLineRun(uint32_t index, uint32_t groups, uint32_t lines) {
  const uint64_t rest = lines % 8 * 8;
  if (RunsOverGroups(groups, lines)) {
    const uint64_t lanes = index * 8 + 8 > lines ? rest : 64;
    return {0, index * 8, lanes, static_cast<uint8_t>(groups), static_cast<uint8_t>(lines), 1};
  }
  if (index < groups) return {index, 0, 64, static_cast<uint8_t>(lines / 8), 8, 0};
  return {index - groups, lines / 8 * 8, rest, 1, 8, 0};
}

// A block of eight equal floats for each line, from a number for each group of `groupLines` lines: for ApplyToLines, which then repeats
// over all lines, and not along each group. space: kBlocksOfGroups floats.
__aicore__ inline void BlocksOfGroups(const AscendC::LocalTensor<float>& blocks,
                                      const AscendC::LocalTensor<float>& numbers,
                                      const AscendC::LocalTensor<float>& space, uint32_t groups, uint32_t groupLines) {
  for (uint32_t first = 0; first < groups; first += kGroupsAtOnce) {
    const uint32_t count = groups - first < kGroupsAtOnce ? groups - first : kGroupsAtOnce;
    AscendC::Brcb(space, numbers[first], static_cast<uint8_t>((count + 7) / 8), {1, 8});
    for (uint32_t index = 0; index < CountLineRuns(count, groupLines); ++index) {
      const LineRun run = FindLineRun(index, count, groupLines);
      AscendC::Adds(blocks[((first + run.group) * groupLines + run.line) * 8], space[run.group * 8], 0.0f, run.lanes,
                    run.repeats, {1, 0, run.apart, run.next});
    }
  }
}

// dst = src op number, a block of eight floats for each line and a number for each group.
template <LineOp op>
__aicore__ inline void BlocksWithGroups(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& src,
                                        const AscendC::LocalTensor<float>& numbers,
                                        const AscendC::LocalTensor<float>& space, uint32_t groups,
                                        uint32_t groupLines) {
  for (uint32_t first = 0; first < groups; first += kGroupsAtOnce) {
    const uint32_t count = groups - first < kGroupsAtOnce ? groups - first : kGroupsAtOnce;
    AscendC::Brcb(space, numbers[first], static_cast<uint8_t>((count + 7) / 8), {1, 8});
    for (uint32_t index = 0; index < CountLineRuns(count, groupLines); ++index) {
      const LineRun run = FindLineRun(index, count, groupLines);
      const uint32_t place = ((first + run.group) * groupLines + run.line) * 8;
      BinaryOf<op>(dst[place], src[place], space[run.group * 8], run.lanes, run.repeats,
                   AscendC::BinaryRepeatParams(1, 1, 0, run.apart, run.apart, run.next));
    }
  }
}

// The way back from Brcb: numbers[i] = the first float of block i. `lines` is a multiple of eight.
__aicore__ inline void NumbersOfBlocks(const AscendC::LocalTensor<float>& numbers,
                                       const AscendC::LocalTensor<float>& blocks, uint32_t lines) {
  uint64_t first[2] = {0x0101010101010101ull, 0};
  for (uint32_t line = 0; line < lines; line += 8 * kLinesAtOnce) {
    const uint32_t count = lines - line < 8 * kLinesAtOnce ? lines - line : 8 * kLinesAtOnce;
    AscendC::BlockReduceSum(numbers[line], blocks[line * 8], static_cast<int32_t>(count / 8), first, 1, 1, 8);
  }
}

// What lies between the end of a line and the next line becomes zero: at most a repeat, from the block on in which the line ends. Where
// a line is a block, there is room for a multiple of eight of them.
__aicore__ inline void ClearBehindLines(const AscendC::LocalTensor<float>& values, uint32_t lines, uint32_t length,
                                        uint32_t pitch) {
  if (length == pitch) return;
  if (pitch == 8) {  // a repeat has eight lines
    uint64_t behind[2] = {0x0101010101010101ull * (0xffu << length & 0xffu), 0};
    for (uint32_t line = 0; line < lines; line += 8 * kLinesAtOnce) {
      const uint32_t count = lines - line < 8 * kLinesAtOnce ? lines - line : 8 * kLinesAtOnce;
      AscendC::Duplicate(values[line * 8], 0.0f, behind, static_cast<uint8_t>((count + 7) / 8), 1, 8);
    }
    return;
  }
  const uint32_t start = length / 8 * 8;
  uint64_t behind[2] = {~0ull >> (64 - (pitch - start)) & ~0ull << (length - start), 0};
  // A single line may be longer than the step of a repeat can say: lines of more than 255 blocks are taken one by one.
  const uint32_t most = pitch / 8 <= 255 ? kLinesAtOnce : 1;
  for (uint32_t line = 0; line < lines; line += most) {
    const uint32_t count = lines - line < most ? lines - line : most;
    AscendC::Duplicate(values[line * pitch + start], 0.0f, behind, static_cast<uint8_t>(count), 1,
                       static_cast<uint8_t>(most == 1 ? 8 : pitch / 8));
  }
}

// Sums of eight: dst has (width + 63) / 64 blocks for each line, one behind the other, and zeros for lines up to a multiple of eight.
__aicore__ inline void SumBlocksOfLines(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& src,
                                        uint32_t lines, uint32_t width, uint32_t pitch) {
  const uint32_t columns = (width + 63) / 64, whole = (lines + 7) / 8 * 8;
  const int32_t behind = static_cast<int32_t>((whole - lines) * columns * 8);
  if (width == pitch && width % 64 == 0) {  // no block gets less than eight sums, and lines follow each other
    for (uint32_t at = 0; at < lines * columns; at += kLinesAtOnce) {
      const uint32_t count = lines * columns - at < kLinesAtOnce ? lines * columns - at : kLinesAtOnce;
      AscendC::BlockReduceSum(dst[at * 8], src[at * 64], static_cast<int32_t>(count), 64, 1, 1, 8);
    }
    if (behind > 0) AscendC::Duplicate(dst[lines * columns * 8], 0.0f, behind);
    return;
  }
  AscendC::Duplicate(dst, 0.0f, static_cast<int32_t>(whole * columns * 8));
  if (FewLongLines(lines, width)) {
    const uint32_t full = width / 64, rest = width % 64;
    for (uint32_t line = 0; line < lines; ++line)
      AscendC::BlockReduceSum(dst[line * columns * 8], src[line * pitch], static_cast<int32_t>(full), 64, 1, 1, 8);
    if (rest == 0) return;
    const uint32_t atOnce = pitch / 8 <= 255 ? lines : 1;  // what fills no repeat, of all lines
    for (uint32_t line = 0; line < lines; line += atOnce)
      AscendC::BlockReduceSum(dst[(line * columns + full) * 8], src[line * pitch + full * 64],
                              static_cast<int32_t>(atOnce), static_cast<int32_t>(rest), static_cast<int32_t>(columns),
                              1, static_cast<int32_t>(atOnce == 1 ? 8 : pitch / 8));
    return;
  }
  for (uint32_t line = 0; line < lines; line += kLinesAtOnce) {
    const uint32_t count = lines - line < kLinesAtOnce ? lines - line : kLinesAtOnce;
    for (uint32_t column = 0; column < columns; ++column) {
      const int32_t mask = static_cast<int32_t>(width - column * 64 < 64 ? width - column * 64 : 64);
      AscendC::BlockReduceSum(dst[(line * columns + column) * 8], src[line * pitch + column * 64],
                              static_cast<int32_t>(count), mask, static_cast<int32_t>(columns), 1,
                              static_cast<int32_t>(pitch / 8));
    }
  }
}

// sums[kind * whole + i] = sum of the first `width` floats of line i of srcs[kind]; `whole` is `lines` rounded up to eight, and so many
// sums of each kind are written. width is a multiple of eight. Each round leaves an eighth: sums of blocks, eight in a block again;
// from the second on, an instruction takes all kinds. Sources are read, and scratch is used: half floats, and an eighth as many behind.
template <uint32_t kinds>
__aicore__ inline void SumLinesOf(const AscendC::LocalTensor<float>& sums,
                                  const AscendC::LocalTensor<float> (&srcs)[kinds],
                                  const AscendC::LocalTensor<float>& scratch, uint32_t half, uint32_t lines,
                                  uint32_t width, uint32_t pitch) {
  const uint32_t whole = (lines + 7) / 8 * 8;
  if (pitch == 8) {  // a line is a block itself, and no block may be read that is not there
    const uint32_t repeats = lines / 8, rest = lines % 8;
    uint64_t behind[2] = {0xffu << rest & 0xffu, 0};
    for (uint32_t kind = 0; kind < kinds; ++kind) {
      const AscendC::LocalTensor<float> to = sums[kind * whole];
      for (uint32_t at = 0; at < repeats; at += kLinesAtOnce) {
        const uint32_t count = repeats - at < kLinesAtOnce ? repeats - at : kLinesAtOnce;
        AscendC::BlockReduceSum(to[at * 8], srcs[kind][at * 64], static_cast<int32_t>(count), 64, 1, 1, 8);
      }
      if (rest == 0) continue;
      AscendC::BlockReduceSum(to[repeats * 8], srcs[kind][repeats * 64], 1, static_cast<int32_t>(rest * 8), 1, 1, 8);
      AscendC::Duplicate(to[repeats * 8], 0.0f, behind, uint8_t{1}, 1, 8);  // last: a source may lie where its sums go
    }
    return;
  }
  uint32_t columns = (width + 63) / 64, place = half;
  for (uint32_t kind = 0; kind < kinds; ++kind)
    SumBlocksOfLines(scratch[kind * whole * columns * 8], srcs[kind], lines, width, pitch);
  AscendC::LocalTensor<float> src = scratch;
  while (columns > 1) {
    const AscendC::LocalTensor<float> dst = scratch[place];
    SumBlocksOfLines(dst, src, kinds * whole, columns * 8, columns * 8);
    src = dst;
    columns = (columns + 7) / 8;
    place = half - place;
  }
  AscendC::BlockReduceSum(sums, src, static_cast<int32_t>(kinds * whole / 8), 64, 1, 1, 8);
}

// The same for one kind.
__aicore__ inline void SumLines(const AscendC::LocalTensor<float>& sums, const AscendC::LocalTensor<float>& src,
                                const AscendC::LocalTensor<float>& scratch, uint32_t half, uint32_t lines,
                                uint32_t width, uint32_t pitch) {
  const AscendC::LocalTensor<float> srcs[1] = {src};
  SumLinesOf<1>(sums, srcs, scratch, half, lines, width, pitch);
}
