// Many rows at once: one number for each row of a tile, the sum or the maximum of its
// floats, and the way back from numbers to rows.
//
// A tile is `count` rows, `pitch` floats apart, whole blocks of eight. Everything here
// repeats over rows or along one (notebooks 06, 07); an instruction has 255 repeats and
// 255 blocks from one to the next at most, so rows of more than 2,040 floats are taken
// one by one.
#pragma once
#include "kernel_operator.h"

constexpr uint32_t kLanes = 64;          // floats of a repeat
constexpr uint32_t kFarthest = 8 * 255;  // floats from one repeat to the next
constexpr uint32_t kMostRows = 128;      // of a tile
// An eighth of 8,192 floats in rows of 64 or more, twice; 128 shorter rows need half.
constexpr uint32_t kHalfWork = 2048;

struct Rows {
  uint32_t count;
  uint32_t length;
  uint32_t pitch;
};

enum class Op { kAdd, kSub, kMul, kMax };

template <Op op, class... Form>
__aicore__ inline void Binary(const AscendC::LocalTensor<float>& dst,
                              const AscendC::LocalTensor<float>& a,
                              const AscendC::LocalTensor<float>& b, Form... form) {
  if constexpr (op == Op::kAdd) AscendC::Add(dst, a, b, form...);
  if constexpr (op == Op::kSub) AscendC::Sub(dst, a, b, form...);
  if constexpr (op == Op::kMul) AscendC::Mul(dst, a, b, form...);
  if constexpr (op == Op::kMax) AscendC::Max(dst, a, b, form...);
}

// dst = a op b on `columns` times 64 floats of each row, and on `rest` floats behind
// them. b_pitch 0: b is the same for all rows.
template <Op op>
__aicore__ inline void OnRows(const AscendC::LocalTensor<float>& dst,
                              uint32_t dst_pitch, const AscendC::LocalTensor<float>& a,
                              uint32_t a_pitch, const AscendC::LocalTensor<float>& b,
                              uint32_t b_pitch, uint32_t rows, uint32_t columns,
                              uint32_t rest) {
  const bool near =
      dst_pitch <= kFarthest && a_pitch <= kFarthest && b_pitch <= kFarthest;
  if (near && columns + 1 <= 2 * rows) {
    const AscendC::BinaryRepeatParams apart(
        1, 1, 1, static_cast<uint8_t>(dst_pitch / 8), static_cast<uint8_t>(a_pitch / 8),
        static_cast<uint8_t>(b_pitch / 8));
    for (uint32_t at = 0; at < columns * kLanes; at += kLanes)
      Binary<op>(dst[at], a[at], b[at], uint64_t{kLanes}, static_cast<uint8_t>(rows),
                 apart);
    const uint32_t at = columns * kLanes;
    if (rest > 0)
      Binary<op>(dst[at], a[at], b[at], uint64_t{rest}, static_cast<uint8_t>(rows),
                 apart);
    return;
  }
  for (uint32_t row = 0; row < rows; ++row)
    Binary<op>(dst[row * dst_pitch], a[row * a_pitch], b[row * b_pitch],
               static_cast<int32_t>(columns * kLanes + rest));
}

// dst = src op number: blocks has eight equal floats for each row, as Brcb makes them.
template <Op op>
__aicore__ inline void WithNumbers(const AscendC::LocalTensor<float>& dst,
                                   const AscendC::LocalTensor<float>& src,
                                   const AscendC::LocalTensor<float>& blocks,
                                   const Rows& rows) {
  const uint32_t columns = rows.length / kLanes, rest = rows.length % kLanes,
                 at = columns * kLanes;
  if (rows.pitch <= kFarthest && columns + 1 <= 2 * rows.count) {
    const uint8_t apart = static_cast<uint8_t>(rows.pitch / 8),
                  count = static_cast<uint8_t>(rows.count);
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
      Binary<op>(dst[start], src[start], blocks[row * 8], uint64_t{kLanes},
                 static_cast<uint8_t>(columns), along);
    if (rest > 0)
      Binary<op>(dst[start + at], src[start + at], blocks[row * 8], uint64_t{rest},
                 uint8_t{1}, along);
  }
}

template <Op op>
__aicore__ inline void OfEight(const AscendC::LocalTensor<float>& dst,
                               const AscendC::LocalTensor<float>& src, uint32_t repeats,
                               uint32_t lanes, uint32_t dst_pitch, uint32_t src_pitch) {
  const int32_t count = static_cast<int32_t>(repeats),
                mask = static_cast<int32_t>(lanes);
  const int32_t to = static_cast<int32_t>(dst_pitch / 8),
                from = static_cast<int32_t>(src_pitch / 8);
  if constexpr (op == Op::kMax) {
    AscendC::BlockReduceMax(dst, src, count, mask, to, 1, from);
  } else {
    AscendC::BlockReduceSum(dst, src, count, mask, to, 1, from);
  }
}

// An eighth of each row: op over every eight neighbours. dst: 8 floats for every 64 of
// a row, `nothing` where the row has ended: what op leaves as it is.
template <Op op>
__aicore__ inline void Eighths(const AscendC::LocalTensor<float>& dst,
                               const AscendC::LocalTensor<float>& src, const Rows& rows,
                               float nothing) {
  const uint32_t columns = (rows.length + kLanes - 1) / kLanes,
                 full = rows.length / kLanes, rest = rows.length % kLanes;
  const uint32_t pitch = columns * 8;
  const uint32_t filled =
      columns == 1 ? (rows.count + 7) / 8 * 8
                   : rows.count;  // the last round of all takes eight rows at once
  if (rest > 0 || filled > rows.count) {
    AscendC::Duplicate(dst, nothing, static_cast<int32_t>(filled * pitch));
    AscendC::PipeBarrier<PIPE_V>();
  }
  if (rest == 0 && rows.pitch == rows.length && rows.count * columns <= 255) {
    OfEight<op>(dst, src, rows.count * columns, kLanes, 8, kLanes);
  } else if (rows.pitch <= kFarthest && columns <= 2 * rows.count) {
    for (uint32_t column = 0; column < full; ++column)
      OfEight<op>(dst[column * 8], src[column * kLanes], rows.count, kLanes, pitch,
                  rows.pitch);
    if (rest > 0)
      OfEight<op>(dst[full * 8], src[full * kLanes], rows.count, rest, pitch,
                  rows.pitch);
  } else {
    for (uint32_t row = 0; row < rows.count; ++row) {
      if (full > 0)
        OfEight<op>(dst[row * pitch], src[row * rows.pitch], full, kLanes, 8, kLanes);
      if (rest > 0)
        OfEight<op>(dst[row * pitch + full * 8], src[row * rows.pitch + full * kLanes],
                    1, rest, 8, kLanes);
    }
  }
  AscendC::PipeBarrier<PIPE_V>();
}

// numbers[i] = op over row i, for the rows rounded up to eight. work: an eighth of a
// tile and half a repeat for each row, twice.
template <Op op>
__aicore__ inline void Reduce(const AscendC::LocalTensor<float>& numbers,
                              const AscendC::LocalTensor<float>& src,
                              const AscendC::LocalTensor<float>& work, const Rows& rows,
                              float nothing) {
  AscendC::LocalTensor<float> from = src;
  Rows left = rows;
  uint32_t place = 0;
  do {
    Eighths<op>(work[place], from, left, nothing);
    from = work[place];
    left.length = (left.length + kLanes - 1) / kLanes * 8;
    left.pitch = left.length;
    place = kHalfWork - place;
  } while (left.length > 8);
  OfEight<op>(numbers, from, (rows.count + 7) / 8, kLanes, 8, kLanes);
  AscendC::PipeBarrier<PIPE_V>();
}

// Eight equal floats for each number.
__aicore__ inline void Blocks(const AscendC::LocalTensor<float>& blocks,
                              const AscendC::LocalTensor<float>& numbers,
                              uint32_t count) {
  AscendC::Brcb(blocks, numbers, static_cast<uint8_t>((count + 7) / 8),
                AscendC::BrcbRepeatParams(1, 8));
  AscendC::PipeBarrier<PIPE_V>();
}

// `count` rows of `length` elements into local memory, each filled up to its pitch with
// zeros, and back.
template <class T>
__aicore__ inline void CopyRows(const AscendC::LocalTensor<T>& to,
                                const AscendC::GlobalTensor<T>& from,
                                const Rows& rows) {
  const AscendC::DataCopyExtParams parts{static_cast<uint16_t>(rows.count),
                                         static_cast<uint32_t>(rows.length * sizeof(T)),
                                         0, 0, 0};
  const AscendC::DataCopyPadExtParams<T> fill{
      true, 0, static_cast<uint8_t>(rows.pitch - rows.length), static_cast<T>(0.0f)};
  AscendC::DataCopyPad(to, from, parts, fill);
}

template <class T>
__aicore__ inline void CopyRowsOut(const AscendC::GlobalTensor<T>& to,
                                   const AscendC::LocalTensor<T>& from,
                                   const Rows& rows) {
  const AscendC::DataCopyExtParams parts{static_cast<uint16_t>(rows.count),
                                         static_cast<uint32_t>(rows.length * sizeof(T)),
                                         0, 0, 0};
  AscendC::DataCopyPad(to, from, parts);
}
