// Mean and variance of groups that come in pieces, for step 5 and later: exact in two steps, and the same bits however the pieces are
// spread over cores.
//
// Pieces form chunks. Each chunk gives four numbers: a pivot near its mean, the sum of x - pivot, the number of elements, and the sum
// of (x - pivot)^2. They stand in a table of four columns, a block of eight floats for each number, in the order of the chunks: of the
// sums eight parts, of the pivot eight copies. Then the table is combined, always in that order.
//
// A pivot is found by the scalar unit, in a few elements that have arrived: it costs the vector unit nothing. Where it would be nearer to
// zero than the elements are to each other, it is zero, and nothing is subtracted at all.
//
// There are two tables: while the last pieces of a group are normalised, the next group is measured; and what a core has of shared
// groups may lie in two of them. Each column is there twice, side by side, so that one instruction takes both tables.
#pragma once
#include "group_norm_core.h"
#include "../common/common_dtype.h"
#include "../common/common_lines.h"
#include "group_norm_tiling.h"
#include "kernel_operator.h"

template <class T>
class GroupNormMoments {
 public:
  struct Statistics {
    float centre;  // the mean is centre + rest: their sum, rounded, would lose what rest has
    float rest;
    float rstd;
  };

  // Groups have `chunks` chunks, at most kGroupNormChunks, and pieces at most `piece` elements.
  __aicore__ inline void Init(AscendC::TPipe* pipe, uint32_t chunks, uint32_t piece) {
    pipe_ = pipe;
    chunks_ = chunks;
    eights_ = (piece / 8 + kRepeat - 1) / kRepeat * kRepeat;
    column_ = (chunks * 8 + kRepeat - 1) / kRepeat * kRepeat + kRepeat;  // Brcb writes eight blocks where one is wanted
    pipe->InitBuffer(workBuf_, (kPiece + kRepeat) * sizeof(float));
    pipe->InitBuffer(tablesBuf_, 8 * column_ * sizeof(float));
    pipe->InitBuffer(sumsBuf_, (2 * kSums + 4 * kParts + 4 * kRepeat) * sizeof(float));
    work_ = workBuf_.Get<float>();
    scratch_ = work_;
    if constexpr (!kIsFloat<T>) {
      pipe->InitBuffer(scratchBuf_, kScratch * sizeof(float));
      scratch_ = scratchBuf_.template Get<float>();
    }
    tables_ = tablesBuf_.Get<float>();
    sums_ = sumsBuf_.Get<float>();
    parts_ = sums_[2 * kSums];
    more_ = parts_[2 * kParts];
    head_ = more_[2 * kParts];
    centres_ = head_[kRepeat];
    results_ = centres_[kRepeat];
    AscendC::Duplicate(head_, 0.0f, kRepeat);
    AscendC::Duplicate(tables_, 0.0f, static_cast<int32_t>(8 * column_));
    AscendC::Duplicate(sums_, 0.0f, 2 * kSums);
  }

  // One of the two tables: where its first column begins, and the blocks from one of its columns to the next.
  __aicore__ inline AscendC::LocalTensor<float> Table(uint32_t which) const { return tables_[which * column_]; }
  __aicore__ inline uint32_t ColumnBlocks() const { return 2 * column_ / 8; }
  // Work: x as floats, where it does not come as floats. Of a piece of at most kPlain elements it is still there after Measure, less the
  // pivot. Scratch: of floats the same memory.
  __aicore__ inline AscendC::LocalTensor<float> Work() const { return work_; }
  __aicore__ inline AscendC::LocalTensor<float> Scratch() const { return scratch_; }
  __aicore__ inline float LastPivot() const { return pivot_; }

  // Takes `rows` rows of `length` elements, `pitch` apart and with zeros in between, into chunk `entry` of a table. Up to the next whole
  // repeat, x has room. Where a chunk begins, the scalar unit reads x.
  __aicore__ inline void Measure(const AscendC::LocalTensor<T>& x, uint32_t rows, uint32_t length, uint32_t pitch,
                                 bool first, bool last, uint32_t which, uint32_t entry) {
    if (first) pivot_ = FindPivot(x, rows, length, pitch);
    const uint32_t lanes = rows * pitch;
    const uint32_t repeats = (lanes + kRepeat - 1) / kRepeat;
    AscendC::LocalTensor<float> values = Widen(work_, x, lanes);
    if (pivot_ != 0.0f) {
      AscendC::Adds(work_, values, -pivot_, static_cast<int32_t>(lanes));
      values = work_;
      ClearBehindLines(values, rows, length, pitch);
    }
    if (lanes % kRepeat != 0) AscendC::Duplicate(values[lanes], 0.0f, static_cast<int32_t>(repeats * kRepeat - lanes));
    AddUp(values, repeats, first);
    elements_ = (first ? 0 : elements_) + rows * length;
    if (last && chunks_ > 1) CloseChunk(which, entry);
  }

  // The statistics of the groups whose chunks are in the tables from `table` on, one or two: of `count` elements each. In three steps: the
  // sums, on the vector unit; the variance, on the scalar unit, whose root takes a detour over the vector unit, because the scalar unit has
  // no documented one; and rstd. Before the second and the third the scalar unit waits. What it gives the vector unit to do before it asks
  // for them, that does meanwhile.
  __aicore__ inline void Reduce(uint32_t table, uint32_t groups) {
    centre_ = pivot_;
    if (chunks_ == 1) {  // the sums need no table
      AscendC::WholeReduceSum(results_, parts_, FoldParts(), 2, 1, 1, static_cast<int32_t>(eights_ / kRepeat));
    } else {
      MoveToOnePivot(table, groups);
    }
    Promise();
  }
  __aicore__ inline void Root(Statistics* of, uint32_t groups, uint32_t count, float eps) {
    AscendC::WaitFlag<AscendC::HardEvent::V_S>(promised_);
    for (uint32_t group = 0; group < groups; ++group) {
      of[group].centre = chunks_ == 1 ? centre_ : centres_[group * 8].GetValue(0);
      of[group].rest = results_.GetValue(group) / static_cast<float>(count);
      const float square = results_.GetValue(groups + group) / static_cast<float>(count);
      const float variance = square - of[group].rest * of[group].rest;
      results_.SetValue(kRoots + group, (variance < 0.0f ? 0.0f : variance) + eps);
    }
    SyncPipes<AscendC::HardEvent::S_V>(pipe_);
    AscendC::Sqrt(results_[kRoots], results_[kRoots], static_cast<int32_t>(groups));
    Promise();
  }
  __aicore__ inline void Complete(Statistics* of, uint32_t groups) {
    AscendC::WaitFlag<AscendC::HardEvent::V_S>(promised_);
    for (uint32_t group = 0; group < groups; ++group) of[group].rstd = 1.0f / results_.GetValue(kRoots + group);
  }

  // Floats of the scratch memory: ten numbers for each row of the largest piece, in whole repeats. A row has a block at least, and room
  // for gamma and beta.
  static constexpr uint32_t kScratch = kIsFloat<T> ? kGroupNormPiece : 4736;
  static constexpr uint32_t kPlain = kGroupNormPiece;

 private:
  // What Root and Complete wait for is the last thing that the vector unit was given. No other wait of S for V may begin before theirs.
  __aicore__ inline void Promise() {
    promised_ = pipe_->FetchEventID<AscendC::HardEvent::V_S>();
    AscendC::SetFlag<AscendC::HardEvent::V_S>(promised_);
  }

  // The mean of eight elements: near enough for the squares not to cancel, and the sum says how far off it is. Of ten, evenly spread,
  // without the smallest and the largest: one that is unlike all others would cost digits. If that mean is nearer to zero than
  // the eight are to each other, zero does as well: squares about it are hardly larger.
  __aicore__ inline float FindPivot(const AscendC::LocalTensor<T>& x, uint32_t rows, uint32_t length,
                                    uint32_t pitch) const {
    constexpr uint32_t kTaken = 10;
    constexpr float kLargest = 3.4e38f;
    float sum = 0.0f, low = kLargest, lower = kLargest, high = -kLargest, higher = -kLargest;
    for (uint32_t i = 0; i < kTaken; ++i) {
      const uint32_t row = i * rows / kTaken, column = i * 7 % kTaken * length / kTaken;
      const float value = NumberOf(x.GetValue(row * pitch + column));
      sum += value;
      if (value < lower) {
        low = lower;
        lower = value;
      } else if (value < low) {
        low = value;
      }
      if (value > higher) {
        high = higher;
        higher = value;
      } else if (value > high) {
        high = value;
      }
    }
    const float mean = (sum - lower - higher) * (1.0f / (kTaken - 2));
    const float spread = high - low;
    return (mean < 0.0f ? -mean : mean) <= kNearZero * spread ? 0.0f : mean;
  }

  // parts_: parts of the sum of x, and as many of the sum of its squares, over the pieces of a chunk. Sums of eight first.
  __aicore__ inline void AddUp(const AscendC::LocalTensor<float>& x, uint32_t repeats, bool first) {
    if (repeats < repeatsBefore_) AscendC::Duplicate(sums_, 0.0f, 2 * kSums);  // sums of a larger piece are still there
    repeatsBefore_ = repeats;
    AscendC::BlockReduceSum(sums_, x, static_cast<int32_t>(repeats), kRepeat, 1, 1, 8);
    const AscendC::LocalTensor<float> squares = repeats * kRepeat <= kPlain ? scratch_ : work_;
    AscendC::Mul(squares, x, x, static_cast<int32_t>(repeats * kRepeat));
    AscendC::BlockReduceSum(sums_[eights_], squares, static_cast<int32_t>(repeats), kRepeat, 1, 1, 8);
    AscendC::BlockReduceSum(first ? parts_ : more_, sums_, static_cast<int32_t>(2 * eights_ / kRepeat), kRepeat, 1, 1,
                            8);
    if (!first) AscendC::Add(parts_, parts_, more_, static_cast<int32_t>(2 * eights_ / 8));
  }

  // What is behind a repeat of parts of each kind joins it. Returns how many there are then.
  __aicore__ inline int32_t FoldParts() {
    const uint32_t blocks = eights_ / kRepeat;
    if (blocks <= 8) return static_cast<int32_t>(blocks * 8);
    const uint8_t step = static_cast<uint8_t>(blocks);
    AscendC::Add(parts_, parts_, parts_[kRepeat], static_cast<uint64_t>(blocks * 8 - kRepeat), 2,
                 {1, 1, 1, step, step, step});
    return static_cast<int32_t>(kRepeat);
  }

  // The table has the numbers of a chunk: eight parts of each sum, of which those that are not there stay zero, as they were made.
  __aicore__ inline void CloseChunk(uint32_t which, uint32_t entry) {
    const AscendC::LocalTensor<float> chunk = Table(which)[entry * 8];
    AscendC::BlockReduceSum(chunk, parts_, 2, FoldParts(), static_cast<int32_t>(kSquares * column_ / 8), 1,
                            static_cast<int32_t>(eights_ / kRepeat));
    if (pivot_ != 0.0f || hasPivots_[which]) AscendC::Duplicate(chunk[kPivots * column_], pivot_, 8);
    hasPivots_[which] = hasPivots_[which] || pivot_ != 0.0f;
    AscendC::Duplicate(chunk[kCounts * column_], static_cast<float>(elements_), 1);
  }

  // Chan's formula: sums about the chunks' pivots become sums about one centre. With e = pivot - centre, of n elements,
  // sum(x - centre) = sum(x - pivot) + n e, and sum((x - centre)^2) = sum((x - pivot)^2) + e (sum(x - pivot) + sum(x - centre)).
  // The centre is the mean of eight pivots, evenly spread: were it that of one, a chunk unlike all others would cost digits.
  // results_: the sums of the groups, and then those of squares. centres_: a block for each group.
  __aicore__ inline void MoveToOnePivot(uint32_t which, uint32_t groups) {
    const AscendC::LocalTensor<float> first = Table(which);
    const AscendC::LocalTensor<float> counts = first[kCounts * column_];
    const AscendC::LocalTensor<float> squares = first[kSquares * column_];
    const AscendC::LocalTensor<float> pivots = first[kPivots * column_];
    const AscendC::LocalTensor<float> moved = scratch_;
    const AscendC::LocalTensor<float> movedSquares = moved[groups * column_];
    const AscendC::LocalTensor<float> offsets = movedSquares[groups * column_];
    const AscendC::LocalTensor<float> parts = offsets[groups * column_];
    const int32_t spread = static_cast<int32_t>(chunks_ < 8 ? chunks_ * 8 : kRepeat);
    AscendC::WholeReduceSum(head_, pivots, spread, static_cast<int32_t>(groups), 1,
                            static_cast<int32_t>(chunks_ < 8 ? 1 : chunks_ / 8), static_cast<int32_t>(column_ / 8));
    AscendC::Muls(head_, head_, 1.0f / static_cast<float>(spread), static_cast<int32_t>(groups));
    AscendC::Brcb(centres_, head_, 1, {1, 8});
    const int32_t lanes = static_cast<int32_t>(groups * column_);
    // Behind the last chunk, up to the next repeat: numbers, which are multiplied by a count of zero.
    if (chunks_ % 8 != 0) AscendC::Duplicate(offsets, 0.0f, lanes);
    for (uint32_t group = 0; group < groups; ++group)
      SubtractBlock(offsets[group * column_], pivots[group * column_], centres_[group * 8], chunks_ * 8);
    AscendC::Mul(moved, counts, offsets, lanes);
    AscendC::Add(moved, first, moved, lanes);
    AscendC::Add(movedSquares, first, moved, lanes);
    AscendC::Mul(movedSquares, movedSquares, offsets, lanes);
    AscendC::Add(movedSquares, squares, movedSquares, lanes);
    AscendC::BlockReduceSum(parts, moved, 2 * lanes / static_cast<int32_t>(kRepeat), kRepeat, 1, 1, 8);
    AscendC::WholeReduceSum(results_, parts, static_cast<int32_t>((column_ - kRepeat) / 8),
                            static_cast<int32_t>(2 * groups), 1, 1, static_cast<int32_t>(column_ / kRepeat));
  }

  // dst = src - block, the same eight floats for every block of src.
  __aicore__ inline void SubtractBlock(const AscendC::LocalTensor<float>& dst, const AscendC::LocalTensor<float>& src,
                                       const AscendC::LocalTensor<float>& block, uint32_t lanes) {
    AscendC::SetMaskCount();
    AscendC::SetVectorMask<float, AscendC::MaskMode::COUNTER>(0, lanes);
    AscendC::Sub<float, false>(dst, src, block, AscendC::MASK_PLACEHOLDER, 1, {1, 1, 0, 8, 8, 0});
    AscendC::SetMaskNorm();
    AscendC::ResetMask();
  }

  static constexpr uint32_t kRepeat = 64;  // floats that the vector unit processes at once
  // Of the spread of ten elements, about three standard deviations. Squares about zero are a seventh larger there; at half of the spread
  // they would be three times as large, and of 30,615 floats one was farther off than the accuracy standard allows.
  static constexpr float kNearZero = 0.125f;
  static constexpr uint32_t kPiece = kIsFloat<T> ? kGroupNormPiece : kGroupNormNarrowPiece;
  static constexpr uint32_t kSums = kPiece / 8;
  static constexpr uint32_t kParts = kSums / 8;
  static constexpr uint32_t kCounts = 2;  // where the columns begin, in columns of one table
  static constexpr uint32_t kSquares = 4;
  static constexpr uint32_t kPivots = 6;
  static constexpr uint32_t kRoots = 8;  // in results_
  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> tablesBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> scratchBuf_;
  AscendC::LocalTensor<float> work_;
  AscendC::LocalTensor<float> scratch_;
  AscendC::LocalTensor<float> tables_;
  AscendC::LocalTensor<float> sums_;   // of eight elements each; of their squares
  AscendC::LocalTensor<float> parts_;  // of a chunk
  AscendC::LocalTensor<float> more_;   // of its last piece
  AscendC::LocalTensor<float> head_;
  AscendC::LocalTensor<float> centres_;
  AscendC::LocalTensor<float> results_;
  float pivot_ = 0.0f;   // of the chunk
  float centre_ = 0.0f;  // of a group of one chunk, its pivot
  AscendC::TEventID promised_ = 0;
  bool hasPivots_[2] = {false, false};  // whether a table has other pivots than the zeros that it began with
  uint32_t chunks_ = 0;                 // of a group
  uint32_t eights_ = 0;                 // sums of eight of a piece, in whole repeats: where those of squares begin
  uint32_t column_ = 0;                 // floats of a column: whole repeats, and one more
  uint32_t elements_ = 0;               // of the chunk so far
  uint32_t repeatsBefore_ = 0;          // of the piece before: beyond them sums_ is zero
};
