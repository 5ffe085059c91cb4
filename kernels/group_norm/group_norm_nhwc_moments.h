// Mean and variance of the groups of a strip, for channels-last GroupNorm, and y from them.
//
// A chunk has sums for each float of a period, about a pivot of its own: the mean of its first piece there. When the chunk ends they are
// moved to one centre for each group, by Chan's formula, and added up over the group's channels: three numbers for each group, in
// tables with a row for each chunk. When all chunks of the strip are there, the same is done over the rows of the tables.
#pragma once
#include "group_norm_nhwc_columns.h"
#include "group_norm_nhwc_tiling.h"

class GroupNormNhwcMoments {
 public:
  using Columns = GroupNormNhwcColumns;
  static constexpr uint32_t kTables = 3;  // centre, sum about it, sum of squares about it

  __aicore__ inline void Init(AscendC::TPipe* pipe, Columns* columns, const AscendC::LocalTensor<float>& work,
                              const AscendC::LocalTensor<float>& other, const __gm__ GroupNormNhwcTilingData* tiling) {
    columns_ = columns;
    work_ = work;
    other_ = other;
    eps_ = tiling->eps;
    groupElements_ = tiling->groupElements;
    lanes_ = tiling->tableLanes;
    sumPeriods_ = tiling->sumPeriods;
    longest_ = tiling->periodElements;
    repeated_ = tiling->repeatedPeriods;
    piecePeriods_ = tiling->pieceRows / tiling->periodRows;
    const uint32_t sums = (sumPeriods_ * longest_ + 8 + 127) / 128 * 128;
    const uint32_t table = tiling->parts * tiling->partChunks * lanes_;
    const uint32_t row = repeated_ * longest_;
    pipe->InitBuffer(buffer_, (2 * sums + kShift + 3 * row + kTables * table + 5 * lanes_) * sizeof(float));
    sums_ = buffer_.Get<float>();
    squares_ = sums_[sums];
    rows_ = squares_[sums + kShift];
    scale_ = rows_;
    centres_ = rows_[row];
    shift_ = centres_[row];
    tables_[0] = shift_[row];
    for (uint32_t which = 1; which < kTables; ++which) tables_[which] = tables_[which - 1][table];
    centre_ = tables_[kTables - 1][table];
    rest_ = centre_[lanes_];
    variance_ = rest_[lanes_];
    rstd_ = variance_[lanes_];
    ones_ = rstd_[lanes_];
    AscendC::Duplicate(ones_, 1.0f, static_cast<int32_t>(lanes_));
  }

  // What Columns::Set may use, where no chunk is open and no strip prepared.
  __aicore__ inline const AscendC::LocalTensor<float>& Space() const { return rows_; }
  __aicore__ inline const AscendC::LocalTensor<float>& Table(uint32_t which) const { return tables_[which]; }

  // The work space, where x may be brought after Clear.
  __aicore__ inline const AscendC::LocalTensor<float>& Work() const { return work_; }

  // A last period that is not whole is filled up with zeros. To be called before each Measure.
  __aicore__ inline void Clear(uint32_t count) {
    const uint32_t period = columns_->Period(), whole = (count + period - 1) / period * period;
    if (whole != count) AscendC::Duplicate(work_, 0.0f, static_cast<int32_t>(whole));
  }

  // Takes `rows` rows, `count` elements in all, into a chunk; its numbers go to row `entry` of the tables when it ends.
  __aicore__ inline void Measure(const AscendC::LocalTensor<float>& x, uint32_t rows, uint32_t count, bool first,
                                 bool last, uint32_t entry) {
    const uint32_t period = columns_->Period(), periods = (count + period - 1) / period, whole = periods * period;
    if (first) Begin(x, count, period);
    ApplyPeriods<LineOp::kSub>(work_, x, scale_, count, repeated_ * period);
    AddUp(sums_, periods, period);
    AscendC::Mul(work_, work_, work_, static_cast<int32_t>(whole));
    AddUp(squares_, periods, period);
    rowsOfChunk_ += rows;
    periods_ += count / period;
    behind_ = count % period;  // only the last piece of a part has such
    if (last) End(entry, period);
  }

  // Statistics of the strip from `chunks` rows of the tables, which have the elements that countOf says.
  template <class CountOf>
  __aicore__ inline void Combine(uint32_t chunks, const CountOf& countOf) {
    const int32_t lanes = static_cast<int32_t>(lanes_), n = static_cast<int32_t>(chunks * lanes_);
    const float share = 1.0f / static_cast<float>(groupElements_);
    AscendC::LocalTensor<float> sums = tables_[1];
    if (chunks == 1) {
      AscendC::Adds(centre_, tables_[0], 0.0f, lanes);
    } else {
      for (uint32_t chunk = 0; chunk < chunks; ++chunk)
        AscendC::Duplicate(work_[chunk * lanes_], static_cast<float>(countOf(chunk)), lanes);
      AscendC::Mul(other_, work_, tables_[0], n);
      FoldPeriods(other_, chunks, lanes_, 1);
      AscendC::Muls(centre_, other_, share, lanes);
      ApplyPeriods<LineOp::kSub>(tables_[0], tables_[0], centre_, chunks * lanes_, lanes_);
      Move(work_, tables_[0], tables_[1], tables_[2], n);
      FoldPeriods(work_, chunks, lanes_, 1);
      FoldPeriods(tables_[2], chunks, lanes_, 1);
      sums = work_;
    }
    AscendC::Muls(rest_, sums, share, lanes);
    AscendC::Muls(variance_, tables_[2], share, lanes);
    AscendC::Mul(rstd_, rest_, rest_, lanes);
    AscendC::Sub(variance_, variance_, rstd_, lanes);
    AscendC::Abs(variance_, variance_, lanes);  // of a constant group it may be a rounding below zero
    AscendC::Adds(variance_, variance_, eps_, lanes);
    AscendC::Sqrt(variance_, variance_, lanes);
    AscendC::Div(rstd_, ones_, variance_, lanes);
  }

  // The mean of each group, and 1 / sqrt(variance + eps), in `results`: a row of each.
  __aicore__ inline void Results(const AscendC::LocalTensor<float>& results) {
    AscendC::Add(results, centre_, rest_, static_cast<int32_t>(lanes_));
    AscendC::Adds(results[lanes_], rstd_, 0.0f, static_cast<int32_t>(lanes_));
  }

  // The numbers of groups as a period has them: y = (x - centre) * scale + (beta - rest * scale) with scale = rstd * gamma.
  __aicore__ inline void Prepare() {
    const int32_t n = static_cast<int32_t>(columns_->Period());
    columns_->SpreadGroups(centres_, centre_);
    columns_->SpreadGroups(scale_, rstd_);
    columns_->SpreadGroups(work_, rest_);
    AscendC::Mul(scale_, scale_, columns_->Gamma(), n);
    AscendC::Mul(work_, work_, scale_, n);
    AscendC::Sub(shift_, columns_->Beta(), work_, n);
    RepeatPeriod(scale_, repeated_, columns_->Period());
    RepeatPeriod(centres_, repeated_, columns_->Period());
    RepeatPeriod(shift_, repeated_, columns_->Period());
  }

  // y from x, with the epilogue behind it; both may be the same.
  template <class Epilogue>
  __aicore__ inline void Normalise(const AscendC::LocalTensor<float>& y, const AscendC::LocalTensor<float>& x,
                                   uint32_t count) {
    const uint32_t period = repeated_ * columns_->Period();
    ApplyPeriods<LineOp::kSub>(y, x, centres_, count, period);
    ApplyPeriods<LineOp::kMul>(y, y, scale_, count, period);
    ApplyPeriods<LineOp::kAdd>(y, y, shift_, count, period);
    // The second work buffer has half a piece.
    const uint32_t most = (piecePeriods_ + 1) / 2 * columns_->Period();
    for (uint32_t at = 0; at < count; at += most) Epilogue::Apply(y[at], other_, count - at < most ? count - at : most);
  }

 private:
  // The pivot is the mean of the whole periods of the first piece: near enough for squares not to cancel.
  __aicore__ inline void Begin(const AscendC::LocalTensor<float>& x, uint32_t count, uint32_t period) {
    const uint32_t whole = count / period;
    const int32_t n = static_cast<int32_t>(period);
    if (whole < 2) {
      if (whole == 0) AscendC::Duplicate(scale_, 0.0f, n);
      AscendC::Adds(scale_, x, 0.0f, whole == 0 ? static_cast<int32_t>(count) : n);
    } else {
      FoldPeriods(other_, HalvePeriods(other_, x, whole, period), period, 1);
      AscendC::Muls(scale_, other_, 1.0f / static_cast<float>(whole), n);
    }
    RepeatPeriod(scale_, repeated_, period);
    AscendC::Duplicate(sums_, 0.0f, static_cast<int32_t>(sumPeriods_ * period));
    AscendC::Duplicate(squares_, 0.0f, static_cast<int32_t>(sumPeriods_ * period));
    rowsOfChunk_ = periods_ = 0;
  }

  // What is in the work space, which stays as it is.
  __aicore__ inline void AddUp(const AscendC::LocalTensor<float>& sums, uint32_t periods, uint32_t period) {
    if (periods <= sumPeriods_) return AscendC::Add(sums, sums, work_, static_cast<int32_t>(periods * period));
    const uint32_t left = FoldPeriods(other_, HalvePeriods(other_, work_, periods, period), period, sumPeriods_);
    AscendC::Add(sums, sums, other_, static_cast<int32_t>(left * period));
  }

  // Sums about one number become sums about another that is `by` less: of n elements, sum + n by, and squares + by (sum + new sum).
  // n becomes the new sum, sum and by are overwritten.
  __aicore__ inline void Move(const AscendC::LocalTensor<float>& n, const AscendC::LocalTensor<float>& by,
                              const AscendC::LocalTensor<float>& sum, const AscendC::LocalTensor<float>& squares,
                              int32_t count) {
    AscendC::Mul(n, n, by, count);
    AscendC::Add(n, n, sum, count);
    AscendC::Add(sum, sum, n, count);
    AscendC::Mul(sum, sum, by, count);
    AscendC::Add(squares, squares, sum, count);
  }

  __aicore__ inline void End(uint32_t entry, uint32_t period) {
    const int32_t n = static_cast<int32_t>(period);
    const uint32_t place = entry * lanes_;
    const AscendC::LocalTensor<float>& numbers = shift_;
    FoldPeriods(sums_, sumPeriods_, period, 1);
    FoldPeriods(squares_, sumPeriods_, period, 1);
    AscendC::Duplicate(numbers, static_cast<float>(periods_), n);
    if (behind_ > 0) AscendC::Adds(numbers, numbers, 1.0f, static_cast<int32_t>(behind_));
    AscendC::Mul(other_, numbers, scale_, n);
    AscendC::Duplicate(other_[period], 0.0f, 8);
    columns_->SumGroups(tables_[0][place], other_);
    AscendC::Muls(tables_[0][place], tables_[0][place],
                  1.0f / static_cast<float>(rowsOfChunk_ * columns_->GroupWidth()), static_cast<int32_t>(lanes_));
    columns_->SpreadGroups(centres_, tables_[0][place]);
    AscendC::Sub(centres_, scale_, centres_, n);
    Move(numbers, centres_, sums_, squares_, n);
    AscendC::Adds(sums_, numbers, 0.0f, n);
    AscendC::Duplicate(sums_[period], 0.0f, 8);
    AscendC::Duplicate(squares_[period], 0.0f, 8);
    columns_->SumGroups(tables_[1][place], sums_);
    columns_->SumGroups(tables_[2][place], squares_);
  }

  static constexpr uint32_t kShift =
      64;  // half a line of the banks: a row and x are read at once, from different banks
  Columns* columns_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer_;
  AscendC::LocalTensor<float> work_;
  AscendC::LocalTensor<float> other_;
  AscendC::LocalTensor<float> sums_;  // of the open chunk, in a few periods, about scale_
  AscendC::LocalTensor<float> squares_;
  AscendC::LocalTensor<float> rows_;  // three, of the same period again and again:
  AscendC::LocalTensor<float> scale_;
  AscendC::LocalTensor<float> centres_;
  AscendC::LocalTensor<float> shift_;
  AscendC::LocalTensor<float> tables_[kTables];
  AscendC::LocalTensor<float> centre_;  // from here on: a number for each group
  AscendC::LocalTensor<float> rest_;
  AscendC::LocalTensor<float> variance_;
  AscendC::LocalTensor<float> rstd_;
  AscendC::LocalTensor<float> ones_;
  uint32_t groupElements_ = 0;
  uint32_t lanes_ = 0;
  uint32_t sumPeriods_ = 0;
  uint32_t repeated_ = 0;      // periods of a row,
  uint32_t piecePeriods_ = 0;  // and of a piece
  uint32_t longest_ = 0;
  uint32_t rowsOfChunk_ = 0;
  uint32_t periods_ = 0;  // whole ones of the chunk,
  uint32_t behind_ = 0;   // and floats behind the last
  float eps_ = 0.0f;
};
