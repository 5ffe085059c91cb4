// GroupNorm, step 3: two buffers a queue.
//
// New since step 2: nothing but the order. Each queue has two buffers, and the copy of the next tile starts before the sums of the
// current one: the scalar unit waits for those sums, and while it waits it issues nothing. The instructions are those of step 2, so
// are the results, bit by bit. The timeline should show MTE2 at work while V computes, and MTE3 while both do.
#include "group_norm_parts.h"

class GroupNormDoubleBuffered : public GroupNormParts {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, const __gm__ GroupNormTilingData* tiling) {
    GroupNormParts::Init(pipe, x, gamma, beta, y, mean, rstd, tiling);
    pipe_->InitBuffer(xQueue_, 2, tileElements_ * sizeof(float));
    pipe_->InitBuffer(yQueue_, 2, tileElements_ * sizeof(float));
    pipe_->InitBuffer(workBuf_, tileElements_ * sizeof(float));
    work_ = workBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    for (uint32_t group = first_; group < last_; ++group) {
      const float count = static_cast<float>(groupElements_);
      const float mean = Sum(group) / count;
      const float variance = SumOfSquares(group, mean) / count;
      const float rstd = ReciprocalRoot(variance + eps_);
      Normalise(group, mean, rstd);
      WriteStatistics(group, mean, rstd);
    }
  }

 private:
  // `count` elements of x from element `at` on, as the next tensor of the queue. DataCopyPad takes any number of bytes.
  __aicore__ inline void CopyIn(uint64_t at, uint32_t count) {
    AscendC::LocalTensor<float> x = xQueue_.AllocTensor<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(x, xGm_[at], row, pad);
    xQueue_.EnQue(x);
  }

  __aicore__ inline void CopyOut(uint64_t at, uint32_t count) {
    AscendC::LocalTensor<float> y = yQueue_.DeQue<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(yGm_[at], y, row);
    yQueue_.FreeTensor(y);
  }

  // The oldest tile of the queue, after the copy of the one that follows tile `at` of the group was started.
  __aicore__ inline AscendC::LocalTensor<float> TakeTile(uint32_t group, uint32_t at) {
    AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
    const uint32_t next = at + tileElements_;
    if (at < groupElements_ - Count(at, groupElements_)) CopyIn(Offset(group) + next, Count(next, groupElements_));
    return x;
  }

  __aicore__ inline float Sum(uint32_t group) {
    float total = 0.0f;
    CopyIn(Offset(group), Count(0, groupElements_));
    for (uint32_t at = 0; at < groupElements_; at += tileElements_) {
      AscendC::LocalTensor<float> x = TakeTile(group, at);
      total += Reduce(x, work_, Count(at, groupElements_));
      xQueue_.FreeTensor(x);
    }
    return total;
  }

  __aicore__ inline float SumOfSquares(uint32_t group, float mean) {
    float total = 0.0f;
    CopyIn(Offset(group), Count(0, groupElements_));
    for (uint32_t at = 0; at < groupElements_; at += tileElements_) {
      const uint32_t count = Count(at, groupElements_);
      AscendC::LocalTensor<float> x = TakeTile(group, at);
      AscendC::Adds(x, x, -mean, static_cast<int32_t>(count));
      AscendC::Mul(x, x, x, static_cast<int32_t>(count));
      total += Reduce(x, work_, count);
      xQueue_.FreeTensor(x);
    }
    return total;
  }

  // No scalar value is waited for here, so the scalar unit runs ahead and two buffers are enough to overlap the copies.
  // A tile never reaches into the next channel: one gamma and one beta for all of its elements.
  __aicore__ inline void Normalise(uint32_t group, float mean, float rstd) {
    for (uint32_t c = 0; c < channelsPerGroup_; ++c) {
      const float scale = rstd * gammaGm_.GetValue(FirstChannel(group) + c);
      const float shift = betaGm_.GetValue(FirstChannel(group) + c);
      const uint64_t channel = Offset(group) + static_cast<uint64_t>(c) * spatial_;
      for (uint32_t at = 0; at < spatial_; at += tileElements_) {
        const uint32_t count = Count(at, spatial_);
        CopyIn(channel + at, count);
        ScaleAndShift(count, mean, scale, shift);
        CopyOut(channel + at, count);
      }
    }
  }

  __aicore__ inline void ScaleAndShift(uint32_t count, float mean, float scale, float shift) {
    AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
    AscendC::LocalTensor<float> y = yQueue_.AllocTensor<float>();
    const int32_t n = static_cast<int32_t>(count);
    AscendC::Adds(y, x, -mean, n);
    AscendC::Muls(y, y, scale, n);
    AscendC::Adds(y, y, shift, n);
    yQueue_.EnQue(y);
    xQueue_.FreeTensor(x);
  }

  AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::LocalTensor<float> work_;
};

extern "C" __global__ __aicore__ void group_norm_double_buffered(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y,
                                                                 GM_ADDR mean, GM_ADDR rstd, GM_ADDR workspace,
                                                                 GM_ADDR tiling) {
  (void)workspace;
  AscendC::TPipe pipe;
  GroupNormDoubleBuffered op;
  op.Init(&pipe, x, gamma, beta, y, mean, rstd, reinterpret_cast<const __gm__ GroupNormTilingData*>(tiling));
  op.Process();
}
