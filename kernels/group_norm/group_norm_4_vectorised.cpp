// GroupNorm, step 4: fewer passes, fewer instructions, fewer waits.
//
// New since step 3: (1) one pass for both statistics. Each tile, less the pivot k, is added to one accumulator and its square to
// another, element by element; only the two accumulators are reduced, once a group. An addition takes one cycle per 64 floats, a
// reduction several, and nobody waits for the scalar unit between tiles. (2) The pivot is the mean of the first tile: near the true
// mean, so that sum((x - k)^2) does not cancel as sum(x^2) does when the mean is large. (3) A reduction begins with sums of eight,
// which cost as little as an addition. (4) A tile of the last pass holds as many whole channels as fit: one copy and one subtraction
// for all of them. (5) gamma and beta come into local memory once. There the scalar unit reads a number in a few cycles; in global
// memory each of them is a journey of hundreds, while the vector unit stands idle. (6) mean and rstd leave while the result is
// computed. The timeline should show V nearly idle under the MTE2 of the first pass, and MTE3 without a gap in the last.
#include "group_norm_affine.h"
#include "group_norm_parts.h"

class GroupNormVectorised : public GroupNormParts {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, const __gm__ GroupNormTilingData* tiling) {
    GroupNormParts::Init(pipe, x, gamma, beta, y, mean, rstd, tiling);
    pipe_->InitBuffer(xQueue_, 2, tileElements_ * sizeof(float));
    pipe_->InitBuffer(yQueue_, 2, tileElements_ * sizeof(float));
    // A repeat is left out before the accumulators: they and x, which an Add reads together, then lie in different banks.
    pipe_->InitBuffer(sumsBuf_, (kRepeat + 2 * tileElements_) * sizeof(float));
    pipe_->InitBuffer(workBuf_, tileElements_ / 4 * sizeof(float));
    pipe_->InitBuffer(totalsBuf_, 64);
    affine_.Init(pipe, gamma, beta, tiling->channels);
    sums_ = sumsBuf_.Get<float>()[kRepeat];
    squares_ = sums_[tileElements_];
    work_ = workBuf_.Get<float>();
    totals_ = totalsBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    affine_.Bring(FirstChannel(first_));
    for (uint32_t group = first_; group < last_; ++group) {
      Accumulate(group);
      // Both are over by now: gamma and beta came before x, and the statistics of the group before left before its results.
      Sync<AscendC::HardEvent::MTE2_S>();
      Sync<AscendC::HardEvent::MTE3_S>();
      const float count = static_cast<float>(groupElements_);
      // The mean is pivot_ + rest. The sum of the two is rounded to a float; the last pass uses them apart.
      const float rest = totals_.GetValue(0) / count;
      const float variance = totals_.GetValue(kBlock) / count - rest * rest;
      const float rstd = ReciprocalRoot((variance > 0.0f ? variance : 0.0f) + eps_);
      SendStatistics(group, pivot_ + rest, rstd);
      Normalise(group, rest, rstd);
    }
  }

 private:
  // `rows` rows of `length` elements of x, each on 32-byte blocks of its own.
  __aicore__ inline void CopyIn(uint64_t at, uint32_t rows, uint32_t length) {
    AscendC::LocalTensor<float> x = xQueue_.AllocTensor<float>();
    AscendC::DataCopyExtParams copy{static_cast<uint16_t>(rows), static_cast<uint32_t>(length * sizeof(float)), 0, 0,
                                    0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(x, xGm_[at], copy, pad);
    xQueue_.EnQue(x);
  }

  __aicore__ inline void CopyOut(uint64_t at, uint32_t rows, uint32_t length) {
    AscendC::LocalTensor<float> y = yQueue_.DeQue<float>();
    AscendC::DataCopyExtParams copy{static_cast<uint16_t>(rows), static_cast<uint32_t>(length * sizeof(float)), 0, 0,
                                    0};
    AscendC::DataCopyPad(yGm_[at], y, copy);
    yQueue_.FreeTensor(y);
  }

  // total[0] = the sum of `count` elements. Sums of eight first: ReduceSum, seven times as long for a repeat, gets an eighth.
  __aicore__ inline void Reduce(const AscendC::LocalTensor<float>& total, const AscendC::LocalTensor<float>& values,
                                uint32_t count) {
    const uint32_t repeats = count / kRepeat, tail = count % kRepeat;
    if (repeats > 0) AscendC::BlockReduceSum(work_, values, static_cast<int32_t>(repeats), kRepeat, 1, 1, 8);
    if (tail > 0)
      AscendC::BlockReduceSum(work_[repeats * kBlock], values[repeats * kRepeat], 1, static_cast<int32_t>(tail), 1, 1,
                              8);
    AscendC::ReduceSum(total, work_, work_[tileElements_ / 8], static_cast<int32_t>(Pitch(count) / kBlock));
  }

  // The mean of the first tile, for which the scalar unit waits.
  __aicore__ inline void FindPivot(const AscendC::LocalTensor<float>& x, uint32_t count) {
    Reduce(totals_, x, count);
    Sync<AscendC::HardEvent::V_S>();
    pivot_ = totals_.GetValue(0) / static_cast<float>(count);
  }

  // Sums of (x - pivot_) and of its square over the group: one of each per element of a tile, then both in totals_.
  __aicore__ inline void Accumulate(uint32_t group) {
    const uint32_t lanes = Count(0, groupElements_);
    AscendC::Duplicate(sums_, 0.0f, static_cast<int32_t>(lanes));
    AscendC::Duplicate(squares_, 0.0f, static_cast<int32_t>(lanes));
    for (uint32_t at = 0; at < groupElements_; at += tileElements_) {
      const uint32_t count = Count(at, groupElements_);
      CopyIn(Offset(group) + at, 1, count);
      AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
      if (at == 0) FindPivot(x, count);
      const int32_t n = static_cast<int32_t>(count);
      AscendC::Adds(x, x, -pivot_, n);
      AscendC::Add(sums_, sums_, x, n);
      AscendC::Mul(x, x, x, n);
      AscendC::Add(squares_, squares_, x, n);
      xQueue_.FreeTensor(x);
    }
    Reduce(totals_, sums_, lanes);
    Reduce(totals_[kBlock], squares_, lanes);
    Sync<AscendC::HardEvent::V_S>();
  }

  __aicore__ inline void Normalise(uint32_t group, float rest, float rstd) {
    if (channelsPerTile_ == 0) return NormaliseLargeChannels(group, rest, rstd);
    for (uint32_t c = 0; c < channelsPerGroup_; c += channelsPerTile_) {
      const uint32_t left = channelsPerGroup_ - c;
      const uint32_t rows = left < channelsPerTile_ ? left : channelsPerTile_;
      const uint64_t at = Offset(group) + static_cast<uint64_t>(c) * spatial_;
      CopyIn(at, rows, spatial_);
      ScaleAndShift(FirstChannel(group) + c, rows, spatial_, rest, rstd);
      CopyOut(at, rows, spatial_);
    }
  }

  __aicore__ inline void NormaliseLargeChannels(uint32_t group, float rest, float rstd) {
    for (uint32_t c = 0; c < channelsPerGroup_; ++c) {
      const uint64_t channel = Offset(group) + static_cast<uint64_t>(c) * spatial_;
      for (uint32_t at = 0; at < spatial_; at += tileElements_) {
        const uint32_t count = Count(at, spatial_);
        CopyIn(channel + at, 1, count);
        ScaleAndShift(FirstChannel(group) + c, 1, count, rest, rstd);
        CopyOut(channel + at, 1, count);
      }
    }
  }

  // y = (x - pivot) * scale + shift, shift = beta - rest * scale, for each row: one channel or a piece of it.
  __aicore__ inline void ScaleAndShift(uint32_t channel, uint32_t rows, uint32_t length, float rest, float rstd) {
    AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
    AscendC::LocalTensor<float> y = yQueue_.AllocTensor<float>();
    const uint32_t pitch = Pitch(length);
    const int32_t n = static_cast<int32_t>(length);
    AscendC::Adds(y, x, -pivot_, static_cast<int32_t>(rows * pitch));
    for (uint32_t row = 0; row < rows; ++row) {
      const float scale = rstd * affine_.Gamma(channel + row);
      const float shift = affine_.Beta(channel + row) - rest * scale;
      AscendC::Muls(y[row * pitch], y[row * pitch], scale, n);
      AscendC::Adds(y[row * pitch], y[row * pitch], shift, n);
    }
    yQueue_.EnQue(y);
    xQueue_.FreeTensor(x);
  }

  // The distance from one row of a tile to the next: whole blocks.
  __aicore__ inline uint32_t Pitch(uint32_t length) const { return (length + kBlock - 1) / kBlock * kBlock; }

  static constexpr uint32_t kRepeat = 64;  // floats that the vector unit processes at once
  static constexpr uint32_t kBlock = 8;    // floats of a 32-byte block
  AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> totalsBuf_;
  AscendC::LocalTensor<float> sums_;
  AscendC::LocalTensor<float> squares_;
  AscendC::LocalTensor<float> work_;
  AscendC::LocalTensor<float> totals_;
  GroupNormAffine affine_;
  float pivot_ = 0.0f;
};

extern "C" __global__ __aicore__ void group_norm_vectorised(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y,
                                                            GM_ADDR mean, GM_ADDR rstd, GM_ADDR workspace,
                                                            GM_ADDR tiling) {
  (void)workspace;
  AscendC::TPipe pipe;
  GroupNormVectorised op;
  op.Init(&pipe, x, gamma, beta, y, mean, rstd, reinterpret_cast<const __gm__ GroupNormTilingData*>(tiling));
  op.Process();
}
