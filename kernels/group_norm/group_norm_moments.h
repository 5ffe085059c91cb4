// Mean and variance of groups that come in pieces, for step 5 and later: exact in two steps, and the same bits however the pieces are
// spread over cores.
//
// Pieces form chunks. Each chunk gives four numbers: a pivot near its mean, the sum of x - pivot, the number of elements, and the sum
// of (x - pivot)^2. They stand in a table of four columns, a block of eight floats for each number, in the order of the chunks: of the
// sums eight parts, of the pivot eight copies. Then the table is combined, always in that order.
#pragma once
#include "group_norm_core.h"
#include "group_norm_lines.h"
#include "group_norm_tiling.h"
#include "kernel_operator.h"

class GroupNormMoments {
 public:
  struct Statistics {
    float centre;  // the mean is centre + rest: their sum, rounded, would lose what rest has
    float rest;
    float rstd;
  };

  // Groups have `chunks` chunks, at most kGroupNormChunks.
  __aicore__ inline void Init(AscendC::TPipe* pipe, uint32_t chunks) {
    pipe_ = pipe;
    chunks_ = chunks;
    column_ = (chunks * 8 + kRepeat - 1) / kRepeat * kRepeat;
    const uint32_t table = 4 * column_ + kRepeat;  // Brcb writes eight blocks where one is wanted
    pipe->InitBuffer(workBuf_, (kPiece + kRepeat) * sizeof(float));
    pipe->InitBuffer(tablesBuf_, 2 * table * sizeof(float));
    pipe->InitBuffer(sumsBuf_, (2 * kSums + 6 * kRepeat + 2 * kResult) * sizeof(float));
    work_ = workBuf_.Get<float>();
    tables_[0] = tablesBuf_.Get<float>();
    tables_[1] = tables_[0][table];
    sums_ = sumsBuf_.Get<float>();
    parts_ = sums_[2 * kSums];
    head_ = parts_[4 * kRepeat];
    results_ = head_[kRepeat];
    roots_ = results_[2 * kResult];
    AscendC::Duplicate(head_, 0.0f, kRepeat);
    AscendC::Duplicate(tables_[0], 0.0f, static_cast<int32_t>(2 * table));
    AscendC::Duplicate(sums_, 0.0f, 2 * kSums);
  }

  // Two tables: while the last pieces of a group are normalised, the next group is measured; and a core's share may lie in two groups.
  __aicore__ inline AscendC::LocalTensor<float> Table(uint32_t which) const { return tables_[which]; }
  __aicore__ inline uint32_t ColumnBlocks() const { return column_ / 8; }
  __aicore__ inline AscendC::LocalTensor<float> Work() const { return work_; }

  // x becomes x - pivot, with the pivot of chunk `entry`.
  __aicore__ inline void Centre(const AscendC::LocalTensor<float>& x, uint32_t lanes, uint32_t which, uint32_t entry) {
    SubtractBlock(x, x, Pivot(which, entry), lanes);
  }
  // How far that pivot is from the centre of the group's statistics. After Combine.
  __aicore__ inline float PivotOffset(const Statistics& of, uint32_t which, uint32_t entry) const {
    return Pivot(which, entry).GetValue(0) - of.centre;
  }

  // Takes `rows` rows of `length` elements, `pitch` apart, into chunk `entry` of a table, and leaves x - pivot in x. Up to the next
  // whole repeat, x has room.
  __aicore__ inline void Measure(const AscendC::LocalTensor<float>& x, uint32_t rows, uint32_t length, uint32_t pitch,
                                 bool first, bool last, uint32_t which, uint32_t entry) {
    if (first) FindPivot(x, length, Pivot(which, entry));
    const uint32_t lanes = rows * pitch;
    const uint32_t repeats = (lanes + kRepeat - 1) / kRepeat;
    Centre(x, lanes, which, entry);
    if (rows == 1) {
      ClearBehindLines(x, 1, length, repeats * kRepeat);
    } else {
      ClearBehindLines(x, rows, length, pitch);
      if (lanes % kRepeat != 0) AscendC::Duplicate(x[lanes], 0.0f, static_cast<int32_t>(repeats * kRepeat - lanes));
    }
    AddUp(x, repeats, first);
    elements_ = (first ? 0 : elements_) + rows * length;
    if (!last) return;
    AscendC::Duplicate(tables_[which][column_ + entry * 8], static_cast<float>(elements_), 1);
    AscendC::BlockReduceSum(tables_[which][entry * 8], parts_, 2, kRepeat, static_cast<int32_t>(2 * ColumnBlocks()), 1, 8);
  }

  // The statistics of the groups whose chunks are in the tables from `table` on, one or two: of `count` elements each.
  __aicore__ inline void Combine(Statistics* of, uint32_t table, uint32_t groups, uint32_t count, float eps) {
    for (uint32_t group = 0; group < groups; ++group) MoveToOnePivot(tables_[table + group], results_[group * kResult]);
    SyncPipes<AscendC::HardEvent::V_S>(pipe_);
    for (uint32_t group = 0; group < groups; ++group) {
      const AscendC::LocalTensor<float> result = results_[group * kResult];
      of[group].centre = (chunks_ == 1 ? Pivot(table + group, 0) : result[kCentre]).GetValue(0);
      of[group].rest = result.GetValue(0) / static_cast<float>(count);
      const float variance = result.GetValue(1) / static_cast<float>(count) - of[group].rest * of[group].rest;
      roots_.SetValue(group, (variance < 0.0f ? 0.0f : variance) + eps);
    }
    // The scalar unit has no documented square root: the numbers take a detour over the vector unit.
    SyncPipes<AscendC::HardEvent::S_V>(pipe_);
    AscendC::Sqrt(roots_, roots_, static_cast<int32_t>(groups));
    SyncPipes<AscendC::HardEvent::V_S>(pipe_);
    for (uint32_t group = 0; group < groups; ++group) of[group].rstd = 1.0f / roots_.GetValue(group);
  }

 private:
  __aicore__ inline AscendC::LocalTensor<float> Pivot(uint32_t which, uint32_t entry) const {
    return tables_[which][3 * column_ + entry * 8];
  }

  // The mean of 64 elements of the first row: near enough for the squares not to cancel, and the sum says how far off it is. Eight
  // blocks, evenly spread: were it the first elements alone, a few that are unlike all others would cost digits.
  __aicore__ inline void FindPivot(const AscendC::LocalTensor<float>& x, uint32_t length,
                                   const AscendC::LocalTensor<float>& pivot) {
    const uint32_t taken = length < kRepeat ? length : kRepeat;
    const uint32_t step = length < kRepeat ? 1 : length / kRepeat;
    AscendC::WholeReduceSum(head_, x, static_cast<int32_t>(taken), 1, 1, static_cast<int32_t>(step), 8);
    AscendC::Muls(head_, head_, 1.0f / static_cast<float>(taken), 1);
    AscendC::Brcb(pivot, head_, 1, {1, 8});
  }

  // parts_: 64 parts of the sum of x, and 64 of the sum of its squares, over the pieces of a chunk. Sums of eight first.
  __aicore__ inline void AddUp(const AscendC::LocalTensor<float>& x, uint32_t repeats, bool first) {
    if (repeats < repeatsBefore_) AscendC::Duplicate(sums_, 0.0f, 2 * kSums);  // sums of a larger piece are still there
    repeatsBefore_ = repeats;
    AscendC::BlockReduceSum(sums_, x, static_cast<int32_t>(repeats), kRepeat, 1, 1, 8);
    AscendC::Mul(work_, x, x, static_cast<int32_t>(repeats * kRepeat));
    AscendC::BlockReduceSum(sums_[kSums], work_, static_cast<int32_t>(repeats), kRepeat, 1, 1, 8);
    const AscendC::LocalTensor<float> parts = first ? parts_ : parts_[2 * kRepeat];
    AscendC::BlockReduceSum(parts, sums_, 2 * kSums / kRepeat, kRepeat, 1, 1, 8);
    if (!first) AscendC::Add(parts_, parts_, parts, 2 * kRepeat);
  }

  // Chan's formula: sums about the chunks' pivots become sums about one centre. With e = pivot - centre, of n elements,
  // sum(x - centre) = sum(x - pivot) + n e, and sum((x - centre)^2) = sum((x - pivot)^2) + e (sum(x - pivot) + sum(x - centre)).
  // The centre is the mean of eight pivots, evenly spread: were it that of one, a chunk unlike all others would cost digits.
  // The result: the two sums, and from kCentre on the centre.
  __aicore__ inline void MoveToOnePivot(const AscendC::LocalTensor<float>& table,
                                        const AscendC::LocalTensor<float>& result) {
    const AscendC::LocalTensor<float> first = table;
    const AscendC::LocalTensor<float> counts = table[column_];
    const AscendC::LocalTensor<float> second = table[2 * column_];
    const AscendC::LocalTensor<float> pivots = table[3 * column_];
    if (chunks_ == 1) {
      AscendC::WholeReduceSum(result, table, 8, 2, 1, 1, static_cast<int32_t>(2 * ColumnBlocks()));
      return;
    }
    const AscendC::LocalTensor<float> moved = work_;  // two columns: sums, and sums of squares
    const AscendC::LocalTensor<float> offsets = work_[2 * column_];
    const AscendC::LocalTensor<float> centre = result[kCentre];
    const int32_t lanes = static_cast<int32_t>(chunks_ * 8);
    const int32_t spread = chunks_ < 8 ? lanes : 64;
    AscendC::WholeReduceSum(head_, pivots, spread, 1, 1, static_cast<int32_t>(chunks_ < 8 ? 1 : chunks_ / 8), 8);
    AscendC::Muls(head_, head_, 1.0f / static_cast<float>(spread), 1);
    AscendC::Brcb(centre, head_, 1, {1, 8});
    if (chunks_ % 8 != 0) AscendC::Duplicate(moved, 0.0f, static_cast<int32_t>(2 * column_));
    SubtractBlock(offsets, pivots, centre, chunks_ * 8);
    AscendC::Mul(moved, counts, offsets, lanes);
    AscendC::Add(moved, first, moved, lanes);
    AscendC::Add(moved[column_], first, moved, lanes);
    AscendC::Mul(moved[column_], moved[column_], offsets, lanes);
    AscendC::Add(moved[column_], second, moved[column_], lanes);
    AscendC::BlockReduceSum(parts_, moved, static_cast<int32_t>(2 * column_ / kRepeat), kRepeat, 1, 1, 8);
    AscendC::WholeReduceSum(result, parts_, static_cast<int32_t>(ColumnBlocks()), 2, 1, 1,
                            static_cast<int32_t>(column_ / kRepeat));
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

  static constexpr uint32_t kRepeat = 64;              // floats that the vector unit processes at once
  static constexpr uint32_t kPiece = kGroupNormPiece;  // floats of a piece at most: 64 repeats
  static constexpr uint32_t kSums = kPiece / 8;
  static constexpr uint32_t kCentre = 8;
  static constexpr uint32_t kResult = 2 * kRepeat;
  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> tablesBuf_;
  AscendC::LocalTensor<float> work_;
  AscendC::LocalTensor<float> tables_[2];
  AscendC::LocalTensor<float> sums_;   // of eight elements each; of their squares
  AscendC::LocalTensor<float> parts_;  // of a chunk; of its last piece
  AscendC::LocalTensor<float> head_;
  AscendC::LocalTensor<float> results_;
  AscendC::LocalTensor<float> roots_;
  uint32_t chunks_ = 0;         // of a group
  uint32_t column_ = 0;         // floats of a column, whole repeats
  uint32_t elements_ = 0;       // of the chunk so far
  uint32_t repeatsBefore_ = 0;  // of the piece before: beyond them sums_ is zero
};
