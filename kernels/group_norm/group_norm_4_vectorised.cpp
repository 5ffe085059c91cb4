// GroupNorm, step 4: fewer passes, fewer instructions, no waiting for sums.
//
// New since step 3: (1) one pass for both statistics. Each tile, less the pivot k, is added to one accumulator and its square to
// another, element by element; only the two accumulators are reduced, once a group. An addition takes one cycle per 64 floats, a
// reduction several, and nobody waits for the scalar unit between tiles. (2) The pivot is the mean of the first tile: near the true
// mean, so that sum((x - k)^2) does not cancel as sum(x^2) does when the mean is large. (3) A tile of the last pass holds as many
// whole channels as fit: one copy for all of them. The timeline should show V nearly idle under an unbroken bar of MTE2.
#include "group_norm_parts.h"

class GroupNormVectorised : public GroupNormParts {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, const __gm__ GroupNormTilingData* tiling) {
    GroupNormParts::Init(pipe, x, gamma, beta, y, mean, rstd, tiling);
    pipe_->InitBuffer(xQueue_, 2, tileElements_ * sizeof(float));
    pipe_->InitBuffer(yQueue_, 2, tileElements_ * sizeof(float));
    pipe_->InitBuffer(sumsBuf_, tileElements_ * sizeof(float));
    pipe_->InitBuffer(squaresBuf_, tileElements_ * sizeof(float));
    pipe_->InitBuffer(workBuf_, tileElements_ * sizeof(float));
    sums_ = sumsBuf_.Get<float>();
    squares_ = squaresBuf_.Get<float>();
    work_ = workBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    for (uint32_t group = first_; group < last_; ++group) {
      Accumulate(group);
      const float count = static_cast<float>(groupElements_);
      const uint32_t lanes = Count(0, groupElements_);
      // The mean is pivot_ + rest. The sum of the two is rounded to a float; the last pass uses them apart.
      const float rest = Reduce(sums_, work_, lanes) / count;
      const float variance = Reduce(squares_, work_, lanes) / count - rest * rest;
      const float rstd = ReciprocalRoot((variance > 0.0f ? variance : 0.0f) + eps_);
      Normalise(group, rest, rstd);
      WriteStatistics(group, pivot_ + rest, rstd);
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

  // Sums of (x - pivot_) and of its square over the group, one of each per element of a tile.
  __aicore__ inline void Accumulate(uint32_t group) {
    const int32_t lanes = static_cast<int32_t>(Count(0, groupElements_));
    AscendC::Duplicate(sums_, 0.0f, lanes);
    AscendC::Duplicate(squares_, 0.0f, lanes);
    for (uint32_t at = 0; at < groupElements_; at += tileElements_) {
      const uint32_t count = Count(at, groupElements_);
      CopyIn(Offset(group) + at, 1, count);
      AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
      if (at == 0) pivot_ = Reduce(x, work_, count) / static_cast<float>(count);
      const int32_t n = static_cast<int32_t>(count);
      AscendC::Adds(x, x, -pivot_, n);
      AscendC::Add(sums_, sums_, x, n);
      AscendC::Mul(x, x, x, n);
      AscendC::Add(squares_, squares_, x, n);
      xQueue_.FreeTensor(x);
    }
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

  // y = (x - pivot) * scale + (shift - rest * scale) for each row, which is one channel or a piece of it.
  __aicore__ inline void ScaleAndShift(uint32_t channel, uint32_t rows, uint32_t length, float rest, float rstd) {
    AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
    AscendC::LocalTensor<float> y = yQueue_.AllocTensor<float>();
    const uint32_t pitch = (length + 7) / 8 * 8;
    const int32_t n = static_cast<int32_t>(length);
    for (uint32_t row = 0; row < rows; ++row) {
      const float scale = rstd * gammaGm_.GetValue(channel + row);
      const float shift = betaGm_.GetValue(channel + row) - rest * scale;
      AscendC::Adds(y[row * pitch], x[row * pitch], -pivot_, n);
      AscendC::Muls(y[row * pitch], y[row * pitch], scale, n);
      AscendC::Adds(y[row * pitch], y[row * pitch], shift, n);
    }
    yQueue_.EnQue(y);
    xQueue_.FreeTensor(x);
  }

  AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumsBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> squaresBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::LocalTensor<float> sums_;
  AscendC::LocalTensor<float> squares_;
  AscendC::LocalTensor<float> work_;
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
