// Mean and variance of groups that come in pieces, for step 5 and later: exact in two steps, and the same bits however the pieces are
// spread over cores.
//
// Pieces form chunks. Each chunk gives four numbers: a pivot near its mean, the sum of x - pivot, the number of elements, and the sum
// of (x - pivot)^2. They stand in a table of four columns, a block of 32 bytes for each number, in the order of the chunks. Then the
// table is combined, always in that order.
#pragma once
#include "group_norm_core.h"
#include "../common/common_lines.h"
#include "group_norm_tiling.h"
#include "kernel_operator.h"

class GroupNormMoments {
 public:
  struct Statistics {
    float centre;  // the mean is centre + rest: their sum, rounded, would lose what rest has
    float rest;
    float rstd;
  };
  static constexpr uint32_t kColumn = 8 * kGroupNormChunks;  // floats of a column
  static constexpr uint32_t kPiece = kGroupNormPiece;        // floats of a piece at most: 64 repeats

  __aicore__ inline void Init(AscendC::TPipe* pipe, uint32_t chunks) {
    pipe_ = pipe;
    chunks_ = chunks;
    pipe->InitBuffer(workBuf_, (kPiece + kRepeat) * sizeof(float));
    pipe->InitBuffer(sumsBuf_, 4 * kPiece / 8 * sizeof(float));
    pipe->InitBuffer(tableBuf_, (4 * kColumn + kRepeat) * sizeof(float));
    pipe->InitBuffer(smallBuf_, (kColumn / 4 + 7 * kRepeat) * sizeof(float));
    work_ = workBuf_.Get<float>();
    sums_ = sumsBuf_.Get<float>();
    table_ = tableBuf_.Get<float>();  // and 64 more: Brcb writes eight blocks where one is wanted
    small_ = smallBuf_.Get<float>();
    smaller_ = small_[kColumn / 4];
    head_ = smaller_[kRepeat];
    results_ = head_[kRepeat];
    AscendC::Duplicate(head_, 0.0f, kRepeat);
  }

  // A table of its own for one group; a second one, in the work space, while no piece is measured.
  __aicore__ inline AscendC::LocalTensor<float> Table(uint32_t which) const { return which == 0 ? table_ : work_; }
  __aicore__ inline AscendC::LocalTensor<float> Work() const { return work_; }

  // Blocks have more lanes than are written: what a NaN left there must not reach the next group.
  __aicore__ inline void Clear(uint32_t which) {
    if (chunks_ > 1) AscendC::Duplicate(Table(which), 0.0f, 3 * kColumn);
  }

  // Takes `rows` rows of `length` elements, `pitch` apart, into chunk `entry` of the table. The pivot is the mean of the
  // chunk's first elements, a repeat at most: near enough for the squares not to cancel, and the sum says how far off it was.
  // x may lie in the work space.
  __aicore__ inline void Measure(const AscendC::LocalTensor<float>& x, uint32_t rows, uint32_t length, uint32_t pitch,
                                 bool first, bool last, uint32_t entry) {
    const AscendC::LocalTensor<float> pivot = table_[3 * kColumn + entry * 8];
    if (first) {
      const uint32_t head = length < kRepeat ? length : kRepeat;
      AscendC::WholeReduceSum(head_, x, static_cast<int32_t>(head), 1, 1, 1, 8);
      AscendC::Muls(head_, head_, 1.0f / static_cast<float>(head), 1);
      AscendC::Brcb(pivot, head_, 1, {1, 8});
    }
    const uint32_t lanes = rows * pitch;
    const uint32_t repeats = (lanes + kRepeat - 1) / kRepeat;
    SubtractBlock(work_, x, pivot, lanes);
    ClearBehindLines(work_, rows, length, pitch);
    if (lanes % kRepeat != 0) AscendC::Duplicate(work_[lanes], 0.0f, static_cast<int32_t>(repeats * kRepeat - lanes));

    // Eight sums a repeat, of the values in the first half of sums_, of their squares in the second.
    const AscendC::LocalTensor<float> sums = first ? sums_ : sums_[kPiece / 4];
    uint32_t& before = first ? repeatsOfFirst_ : repeatsOfOther_;
    if (repeats < before) AscendC::Duplicate(sums, 0.0f, kPiece / 4);  // sums of a larger piece are still there
    before = repeats;
    AscendC::BlockReduceSum(sums, work_, static_cast<int32_t>(repeats), kRepeat, 1, 1, 8);
    AscendC::Mul(work_, work_, work_, static_cast<int32_t>(repeats * kRepeat));
    AscendC::BlockReduceSum(sums[kPiece / 8], work_, static_cast<int32_t>(repeats), kRepeat, 1, 1, 8);
    if (!first) AscendC::Add(sums_, sums_, sums, kPiece / 4);
    if (!first) repeatsOfFirst_ = kRepeat;  // any of them may be there now

    elements_ = (first ? 0 : elements_) + rows * length;
    if (!last) return;
    AscendC::Duplicate(table_[kColumn + entry * 8], static_cast<float>(elements_), 1);
    AscendC::BlockReduceSum(small_, sums_, kPiece / 4 / kRepeat, kRepeat, 1, 1, 8);
    AscendC::WholeReduceSum(table_[entry * 8], small_, kRepeat, 2, 2 * kColumn, 1, 8);
  }

  // The statistics of the groups whose chunks are in the tables, one or two: of `count` elements each.
  __aicore__ inline void Combine(Statistics* of, uint32_t groups, uint32_t count, float eps) {
    const bool one = chunks_ == 1;
    for (uint32_t group = 0; group < groups && !one; ++group)
      MoveToOnePivot(Table(group), results_[group * 2 * kRepeat]);
    SyncPipes<AscendC::HardEvent::V_S>(pipe_);
    for (uint32_t group = 0; group < groups; ++group) {
      const AscendC::LocalTensor<float> sums = one ? table_ : results_[group * 2 * kRepeat];
      of[group].centre = sums.GetValue(one ? 3 * kColumn : kCentre);
      of[group].rest = sums.GetValue(0) / static_cast<float>(count);
      const float square = sums.GetValue(one ? 2 * kColumn : 1) / static_cast<float>(count);
      const float variance = square - of[group].rest * of[group].rest;
      results_.SetValue(kRoots + group, (variance < 0.0f ? 0.0f : variance) + eps);
    }
    // The scalar unit has no documented square root: the numbers take a detour over the vector unit.
    SyncPipes<AscendC::HardEvent::S_V>(pipe_);
    AscendC::Sqrt(results_[kRoots], results_[kRoots], static_cast<int32_t>(groups));
    SyncPipes<AscendC::HardEvent::V_S>(pipe_);
    for (uint32_t group = 0; group < groups; ++group) of[group].rstd = 1.0f / results_.GetValue(kRoots + group);
  }

 private:
  // Chan's formula: sums about the chunks' pivots become sums about one centre. With e = pivot - centre, of n elements,
  // sum(x - centre) = sum(x - pivot) + n e, and sum((x - centre)^2) = sum((x - pivot)^2) + e (sum(x - pivot) + sum(x - centre)).
  // The centre is the mean of eight pivots, evenly spread: were it that of one, a chunk unlike all others would cost digits.
  __aicore__ inline void MoveToOnePivot(const AscendC::LocalTensor<float>& table,
                                        const AscendC::LocalTensor<float>& result) {
    const AscendC::LocalTensor<float> first = table;
    const AscendC::LocalTensor<float> counts = table[kColumn];
    const AscendC::LocalTensor<float> second = table[2 * kColumn];
    const AscendC::LocalTensor<float> pivots = table[3 * kColumn];
    const AscendC::LocalTensor<float> centre = result[kCentre];
    const int32_t lanes = static_cast<int32_t>(chunks_ * 8);
    const int32_t spread = chunks_ < 8 ? lanes : 64;
    AscendC::WholeReduceSum(head_, pivots, spread, 1, 1, static_cast<int32_t>(chunks_ < 8 ? 1 : chunks_ / 8), 8);
    AscendC::Muls(head_, head_, 1.0f / static_cast<float>(spread), 1);
    AscendC::Brcb(centre, head_, 1, {1, 8});
    SubtractBlock(pivots, pivots, centre, chunks_ * 8);
    AscendC::Mul(counts, counts, pivots, lanes);
    AscendC::Add(counts, first, counts, lanes);
    AscendC::Add(first, first, counts, lanes);
    AscendC::Mul(first, first, pivots, lanes);
    AscendC::Add(second, second, first, lanes);
    // The two columns lie one after the other: both sums by the same instructions.
    AscendC::BlockReduceSum(small_, counts, 2 * kColumn / kRepeat, kRepeat, 1, 1, 8);
    AscendC::BlockReduceSum(smaller_, small_, kColumn / 4 / kRepeat, kRepeat, 1, 1, 8);
    AscendC::WholeReduceSum(result, smaller_, kColumn / kRepeat, 2, 1, 1, kColumn / kRepeat / 8);
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
  static constexpr uint32_t kCentre = 8;   // in results_, from where each group's two sums are
  static constexpr uint32_t kRoots = 4 * kRepeat;
  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> tableBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> smallBuf_;
  AscendC::LocalTensor<float> work_;
  AscendC::LocalTensor<float> sums_;
  AscendC::LocalTensor<float> table_;
  AscendC::LocalTensor<float> small_;
  AscendC::LocalTensor<float> smaller_;
  AscendC::LocalTensor<float> head_;
  AscendC::LocalTensor<float> results_;
  uint32_t chunks_ = 0;                // of a group
  uint32_t elements_ = 0;              // of the chunk so far
  uint32_t repeatsOfFirst_ = kRepeat;  // of what each half of sums_ may hold: at the start, anything
  uint32_t repeatsOfOther_ = kRepeat;
};
