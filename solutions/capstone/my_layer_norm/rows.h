// Many rows at once: one number for each row of a tile, the sum or the maximum of its floats, and the way back from numbers to rows.
//
// A tile is `count` rows, `pitch` floats apart, whole blocks of eight. Everything here repeats over rows or along one (notebooks 06, 07);
// an instruction has 255 repeats and 255 blocks from one to the next at most, so rows of more than 2,040 floats are taken one by one.
#pragma once
#include "kernel_operator.h"

constexpr uint32_t kLanes = 64;           // floats of a repeat
constexpr uint32_t kFarthest = 8 * 255;   // floats from one repeat to the next
constexpr uint32_t kMostRows = 128;       // of a tile, so that 64 floats of each are no more than the largest tile

struct Rows {
  uint32_t count;
  uint32_t length;
  uint32_t pitch;
};

enum class Op { kAdd, kSub, kMul, kMax };

template <Op op, class... Form>
__aicore__ inline void Binary(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& a,
                              const AscendC::LocalTensor<float>& b, Form... form) {
  if constexpr (op == Op::kAdd) AscendC::Add(dst, a, b, form...);
  if constexpr (op == Op::kSub) AscendC::Sub(dst, a, b, form...);
  if constexpr (op == Op::kMul) AscendC::Mul(dst, a, b, form...);
  if constexpr (op == Op::kMax) AscendC::Max(dst, a, b, form...);
}

// dst = a op b on `columns` times 64 floats of each row, and on `rest` floats behind them. b_pitch 0: b is the same for all rows.
template <Op op>
__aicore__ inline void OnRows(const AscendC::LocalTensor<float>& dst, uint32_t dst_pitch,
                              const AscendC::LocalTensor<float>& a, uint32_t a_pitch,
                              const AscendC::LocalTensor<float>& b, uint32_t b_pitch, uint32_t rows, uint32_t columns,
                              uint32_t rest) {
  const bool near = dst_pitch <= kFarthest && a_pitch <= kFarthest && b_pitch <= kFarthest;
  if (near && columns + 1 <= 2 * rows) {
    const AscendC::BinaryRepeatParams apart(1, 1, 1, static_cast<uint8_t>(dst_pitch / 8),
                                            static_cast<uint8_t>(a_pitch / 8), static_cast<uint8_t>(b_pitch / 8));
    for (uint32_t at = 0; at < columns * kLanes; at += kLanes)
      Binary<op>(dst[at], a[at], b[at], uint64_t{kLanes}, static_cast<uint8_t>(rows), apart);
    const uint32_t at = columns * kLanes;
    if (rest > 0) Binary<op>(dst[at], a[at], b[at], uint64_t{rest}, static_cast<uint8_t>(rows), apart);
    return;
  }
  for (uint32_t row = 0; row < rows; ++row)
    Binary<op>(dst[row * dst_pitch], a[row * a_pitch], b[row * b_pitch], static_cast<int32_t>(columns * kLanes + rest));
}

// dst = src op number: blocks has eight equal floats for each row, as Brcb makes them.
template <Op op>
__aicore__ inline void WithNumbers(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& src,
                                   const AscendC::LocalTensor<float>& blocks, const Rows& rows) {
  const uint32_t columns = rows.length / kLanes, rest = rows.length % kLanes, at = columns * kLanes;
  if (rows.pitch <= kFarthest && columns + 1 <= 2 * rows.count) {
    const uint8_t apart = static_cast<uint8_t>(rows.pitch / 8), count = static_cast<uint8_t>(rows.count);
    const AscendC::BinaryRepeatParams steps(1, 1, 0, apart, apart, 1);
    for (uint32_t column = 0; column < at; column += kLanes)
      Binary<op>(dst[column], src[column], blocks, uint64_t{kLanes}, count, steps);
    if (rest > 0) Binary<op>(dst[at], src[at], blocks, uint64_t{rest}, count, steps);
    return;
  }
  const AscendC::BinaryRepeatParams along(1, 1, 0, 8, 8, 0);
  for (uint32_t row = 0; row < rows.count; ++row) {
    const uint32_t start = row * rows.pitch;
    if (columns > 0)
      Binary<op>(dst[start], src[start], blocks[row * 8], uint64_t{kLanes}, static_cast<uint8_t>(columns), along);
    if (rest > 0) Binary<op>(dst[start + at], src[start + at], blocks[row * 8], uint64_t{rest}, uint8_t{1}, along);
  }
}

// 64 floats of each row, `pitch` floats apart, of which each is op over those of the row that stand as many lanes behind it.
struct Folded {
  AscendC::LocalTensor<float> values;
  uint32_t pitch;
  uint32_t lanes;
};

// Halves the columns of all rows until one is left, as ReduceSum by halves does (notebook 06). work: kMostRows * 64 floats.
template <Op op>
__aicore__ inline Folded Fold(const AscendC::LocalTensor<float>& work, const AscendC::LocalTensor<float>& src,
                              const Rows& rows) {
  uint32_t columns = rows.length / kLanes;
  const uint32_t rest = rows.length % kLanes, behind = columns * kLanes;
  if (columns == 0) return {src, rows.pitch, rest};
  if (columns == 1 && rest == 0) return {src, rows.pitch, kLanes};
  const uint32_t pitch = (columns + 1) / 2 * kLanes;
  uint32_t pairs = columns / 2;
  if (pairs > 0) OnRows<op>(work, pitch, src, rows.pitch, src[(columns - pairs) * kLanes], rows.pitch, rows.count, pairs, 0);
  if (columns % 2 == 1) {
    const uint32_t middle = pairs * kLanes;
    for (uint32_t row = 0; row < rows.count; ++row)
      AscendC::Adds(work[row * pitch + middle], src[row * rows.pitch + middle], 0.0f, static_cast<int32_t>(kLanes));
  }
  AscendC::PipeBarrier<PIPE_V>();
  for (columns -= pairs; columns > 1; columns -= pairs) {
    pairs = columns / 2;
    OnRows<op>(work, pitch, work, pitch, work[(columns - pairs) * kLanes], pitch, rows.count, pairs, 0);
    AscendC::PipeBarrier<PIPE_V>();
  }
  if (rest > 0) {
    OnRows<op>(work, pitch, work, pitch, src[behind], rows.pitch, rows.count, 0, rest);
    AscendC::PipeBarrier<PIPE_V>();
  }
  return {work, pitch, kLanes};
}

template <Op op>
__aicore__ inline void OfEight(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& src,
                               uint32_t repeats, uint32_t lanes, uint32_t pitch) {
  if constexpr (op == Op::kMax)
    AscendC::BlockReduceMax(dst, src, static_cast<int32_t>(repeats), static_cast<int32_t>(lanes), 1, 1,
                            static_cast<int32_t>(pitch / 8));
  else
    AscendC::BlockReduceSum(dst, src, static_cast<int32_t>(repeats), static_cast<int32_t>(lanes), 1, 1,
                            static_cast<int32_t>(pitch / 8));
}

// numbers[i] = op over row i, for `count` rounded up to eight rows; those behind the last are `nothing`: what op leaves as it is.
// work: kMostRows * 64 floats; eights: kMostRows * 8.
template <Op op>
__aicore__ inline void Reduce(const AscendC::LocalTensor<float>& numbers, const AscendC::LocalTensor<float>& src,
                              const AscendC::LocalTensor<float>& work, const AscendC::LocalTensor<float>& eights,
                              const Rows& rows, float nothing) {
  const uint32_t whole = (rows.count + 7) / 8 * 8;
  AscendC::Duplicate(eights, nothing, static_cast<int32_t>(whole * 8));
  const Folded folded = Fold<op>(work, src, rows);
  AscendC::PipeBarrier<PIPE_V>();
  if (folded.pitch <= kFarthest) {
    OfEight<op>(eights, folded.values, rows.count, folded.lanes, folded.pitch);
  } else {
    for (uint32_t row = 0; row < rows.count; ++row)
      OfEight<op>(eights[row * 8], folded.values[row * folded.pitch], 1, folded.lanes, kLanes);
  }
  AscendC::PipeBarrier<PIPE_V>();
  OfEight<op>(numbers, eights, whole / 8, kLanes, kLanes);
  AscendC::PipeBarrier<PIPE_V>();
}

// Eight equal floats for each number.
__aicore__ inline void Blocks(const AscendC::LocalTensor<float>& blocks, const AscendC::LocalTensor<float>& numbers,
                              uint32_t count) {
  AscendC::Brcb(blocks, numbers, static_cast<uint8_t>((count + 7) / 8), AscendC::BrcbRepeatParams(1, 8));
  AscendC::PipeBarrier<PIPE_V>();
}

// `count` rows of `length` elements into local memory, each filled up to its pitch with zeros, and back.
template <class T>
__aicore__ inline void CopyRows(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                const Rows& rows) {
  const AscendC::DataCopyExtParams parts{static_cast<uint16_t>(rows.count),
                                         static_cast<uint32_t>(rows.length * sizeof(T)), 0, 0, 0};
  const AscendC::DataCopyPadExtParams<T> fill{true, 0, static_cast<uint8_t>(rows.pitch - rows.length),
                                              static_cast<T>(0.0f)};
  AscendC::DataCopyPad(to, from, parts, fill);
}

template <class T>
__aicore__ inline void CopyRowsOut(const AscendC::GlobalTensor<T>& to, const AscendC::LocalTensor<T>& from,
                                   const Rows& rows) {
  const AscendC::DataCopyExtParams parts{static_cast<uint16_t>(rows.count),
                                         static_cast<uint32_t>(rows.length * sizeof(T)), 0, 0, 0};
  AscendC::DataCopyPad(to, from, parts);
}
