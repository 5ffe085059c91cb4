// Sums over the rows of a chunk for the gradients of channels-last GroupNorm, and what becomes of them when all chunks of a strip are
// there: the numbers that dx = rstd * (gamma * dy - shift - (x - mean - lack) * slope) takes.
//
// With d = x - mean, three sums for each float of a period: of dy, of d * dy, and of d. The last one says what the saved mean lacks,
// because it is a rounded float: lack = mean(d). Then shift = mean(gamma * dy), slope = rstd^2 * (mean(gamma * d * dy) - lack * shift).
#pragma once
#include "group_norm_backward_nhwc_tiling.h"
#include "group_norm_nhwc_columns.h"

class GroupNormBackwardNhwcSums {
  using Floats = AscendC::LocalTensor<float>;

 public:
  using Columns = GroupNormNhwcColumns;
  static constexpr uint32_t kKinds = 3;

  __aicore__ inline void Init(AscendC::TPipe* pipe, Columns* columns, const Floats& work, const Floats& other,
                              const __gm__ GroupNormBackwardNhwcTilingData* tiling) {
    columns_ = columns;
    work_ = work;
    other_ = other;
    lanes_ = tiling->tableLanes;
    groupElements_ = tiling->groupElements;
    sumPeriods_ = tiling->sumPeriods;
    repeated_ = tiling->repeatedPeriods;
    const uint32_t period = tiling->periodElements;
    const uint32_t sums = Whole(sumPeriods_ * period + 8), row = Whole(period * repeated_);
    const uint32_t table = Whole(kKinds * tiling->parts * tiling->partChunks * lanes_), numbers = Whole(lanes_);
    pipe->InitBuffer(buffer_, (kKinds * sums + kRows * row + table + kNumbers * numbers) * sizeof(float));
    Floats next = buffer_.Get<float>();
    for (uint32_t kind = 0; kind < kKinds; ++kind) sums_[kind] = Take(&next, sums);
    for (uint32_t which = 0; which < kRows; ++which) rows_[which] = Take(&next, row);
    table_ = Take(&next, table);
    for (uint32_t which = 0; which + 1 < kNumbers; ++which) numbers_[which] = Take(&next, numbers);
    numbers_[kNumbers - 1] = next;
  }

  // What Columns::Set may use, where no strip is prepared: two periods.
  __aicore__ inline const Floats& Space() const { return rows_[kScale]; }
  // Where the statistics of a strip's groups are brought: a number for each lane.
  __aicore__ inline const Floats& Mean() const { return numbers_[kMeans]; }
  __aicore__ inline const Floats& Rstd() const { return numbers_[kRstds]; }
  // Where the records of all chunks of a strip are brought, one behind the other.
  __aicore__ inline const Floats& Table() const { return table_; }

  // The mean of its group for each float of a period.
  __aicore__ inline void SpreadMean() { Spread(kMean, numbers_[kMeans]); }

  __aicore__ inline void Begin() {
    const int32_t n = static_cast<int32_t>(sumPeriods_ * columns_->Period());
    for (uint32_t kind = 0; kind < kKinds; ++kind) AscendC::Duplicate(sums_[kind], 0.0f, n);
  }

  // Takes `count` elements into the open chunk. The work buffer has zeros behind them up to a whole period, and so has dy.
  __aicore__ inline void Add(const Floats& x, const Floats& dy, uint32_t count) {
    const uint32_t period = columns_->Period(), periods = (count + period - 1) / period;
    ApplyPeriods<LineOp::kSub>(work_, x, rows_[kMean], count, repeated_ * period);
    AddUp(sums_[2], work_, periods, period);
    AddUp(sums_[0], dy, periods, period);
    AscendC::Mul(work_, work_, dy, static_cast<int32_t>(periods * period));
    AddUp(sums_[1], work_, periods, period);
  }

  // Ends the chunk: a record of the sums of groups, the first two weighed with gamma.
  __aicore__ inline void End(const Floats& record) {
    const uint32_t period = columns_->Period();
    const int32_t n = static_cast<int32_t>(period);
    for (uint32_t kind = 0; kind < kKinds; ++kind) {
      FoldPeriods(sums_[kind], sumPeriods_, period, 1);
      if (kind < 2) {
        AscendC::Mul(other_, sums_[kind], columns_->Gamma(), n);
      } else {
        AscendC::Adds(other_, sums_[kind], 0.0f, n);
      }
      AscendC::Duplicate(other_[period], 0.0f, 8);
      columns_->SumGroups(record[kind * lanes_], other_);
    }
  }
  // The first two sums of the chunk, `length` floats each; its period has `rows` times as many, which are added up.
  __aicore__ inline void Lines(const Floats& plain, const Floats& spread, uint32_t length, uint32_t rows) {
    for (uint32_t kind = 0; kind < 2; ++kind) {
      FoldPeriods(sums_[kind], rows, length, 1);
      AscendC::Adds(kind == 0 ? plain : spread, sums_[kind], 0.0f, static_cast<int32_t>(length));
    }
  }

  // The numbers of the strip from `chunks` records and its statistics.
  __aicore__ inline void Combine(uint32_t chunks) {
    const int32_t n = static_cast<int32_t>(lanes_);
    const float share = 1.0f / static_cast<float>(groupElements_);
    const Floats &lack = numbers_[kLacks], &slope = numbers_[kSlopes], &rest = numbers_[kRests],
                 &rstd = numbers_[kRstds];
    FoldPeriods(table_, chunks, kKinds * lanes_, 1);
    AscendC::Muls(lack, table_[2 * lanes_], share, n);
    AscendC::Muls(rest, table_, share, n);
    AscendC::Muls(slope, table_[lanes_], share, n);
    AscendC::Mul(table_, lack, rest, n);
    AscendC::Sub(slope, slope, table_, n);
    AscendC::Mul(slope, slope, rstd, n);
    AscendC::Mul(slope, slope, rstd, n);
    AscendC::Mul(table_, slope, lack, n);
    AscendC::Sub(rest, rest, table_, n);
  }
  // The numbers of groups as a period has them.
  __aicore__ inline void Prepare() {
    const int32_t n = static_cast<int32_t>(columns_->Period());
    SpreadMean();
    Spread(kSlope, numbers_[kSlopes]);
    Spread(kRest, numbers_[kRests]);
    Spread(kScale, numbers_[kRstds]);
    AscendC::Adds(rows_[kGamma], columns_->Gamma(), 0.0f, n);
    RepeatPeriod(rows_[kGamma], repeated_, columns_->Period());
  }

  // A chunk's sums of d * dy become what they add to dgamma: rstd * (spread - lack * plain).
  __aicore__ inline void Finish(const Floats& to, const Floats& plain, const Floats& spread, uint32_t length) {
    const int32_t n = static_cast<int32_t>(length);
    columns_->SpreadGroups(work_, numbers_[kLacks]);
    AscendC::Mul(work_, work_, plain, n);
    AscendC::Sub(to, spread, work_, n);
    columns_->SpreadGroups(work_, numbers_[kRstds]);
    AscendC::Mul(to, to, work_, n);
  }

  // dx of `count` elements; it may be dy. rstd comes last: in a group of one element, and in others nearly, the differences are zero.
  __aicore__ inline void Dx(const Floats& dx, const Floats& x, const Floats& dy, uint32_t count) {
    const uint32_t period = repeated_ * columns_->Period();
    ApplyPeriods<LineOp::kSub>(work_, x, rows_[kMean], count, period);
    ApplyPeriods<LineOp::kMul>(work_, work_, rows_[kSlope], count, period);
    ApplyPeriods<LineOp::kMul>(dx, dy, rows_[kGamma], count, period);
    AscendC::Sub(dx, dx, work_, static_cast<int32_t>(count));
    ApplyPeriods<LineOp::kSub>(dx, dx, rows_[kRest], count, period);
    ApplyPeriods<LineOp::kMul>(dx, dx, rows_[kScale], count, period);
  }

 private:
  enum Row : uint32_t {
    kMean,
    kScale,
    kSlope,
    kRest,
    kGamma,
    kRows
  };  // kScale has one behind it: the space of Columns::Set
  enum Number : uint32_t { kMeans, kRstds, kLacks, kSlopes, kRests, kNumbers };

  __aicore__ static inline uint32_t Whole(uint32_t floats) { return (floats + 127) / 128 * 128; }
  __aicore__ static inline Floats Take(Floats* next, uint32_t floats) {
    const Floats taken = *next;
    *next = (*next)[floats];
    return taken;
  }

  __aicore__ inline void Spread(uint32_t row, const Floats& numbers) {
    columns_->SpreadGroups(rows_[row], numbers);
    RepeatPeriod(rows_[row], repeated_, columns_->Period());
  }

  __aicore__ inline void AddUp(const Floats& sums, const Floats& from, uint32_t periods, uint32_t period) {
    if (periods <= sumPeriods_) return AscendC::Add(sums, sums, from, static_cast<int32_t>(periods * period));
    const uint32_t left = FoldPeriods(other_, HalvePeriods(other_, from, periods, period), period, sumPeriods_);
    AscendC::Add(sums, sums, other_, static_cast<int32_t>(left * period));
  }

  Columns* columns_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer_;
  Floats work_;
  Floats other_;
  Floats sums_[kKinds];  // of the open chunk, in a few periods
  Floats rows_[kRows];   // of the same period again and again
  Floats table_;
  Floats numbers_[kNumbers];  // of groups
  uint32_t lanes_ = 0;
  uint32_t groupElements_ = 0;
  uint32_t sumPeriods_ = 0;
  uint32_t repeated_ = 0;  // periods of a row
};
