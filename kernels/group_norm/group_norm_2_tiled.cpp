// GroupNorm, step 2: tiles through the vector unit.
//
// New since step 1: vector instructions in their count form replace the loops over elements, and the host's tiling function chooses
// the tile, so that a group may be larger than the Unified Buffer. There are still three passes over a group, with one buffer a queue.
// gamma and beta belong to a channel, so the last pass goes channel by channel. The timeline should show the bar of scalar work gone:
// MTE2, V and MTE3 take turns, each waiting for the one before it.
#include "group_norm_parts.h"

class GroupNormTiled : public GroupNormParts {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, const __gm__ GroupNormTilingData* tiling) {
    GroupNormParts::Init(pipe, x, gamma, beta, y, mean, rstd, tiling);
    pipe_->InitBuffer(xQueue_, 1, tileElements_ * sizeof(float));
    pipe_->InitBuffer(yQueue_, 1, tileElements_ * sizeof(float));
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

  __aicore__ inline float Sum(uint32_t group) {
    float total = 0.0f;
    for (uint32_t at = 0; at < groupElements_; at += tileElements_) {
      const uint32_t count = Count(at, groupElements_);
      CopyIn(Offset(group) + at, count);
      AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
      total += Reduce(x, work_, count);
      xQueue_.FreeTensor(x);
    }
    return total;
  }

  __aicore__ inline float SumOfSquares(uint32_t group, float mean) {
    float total = 0.0f;
    for (uint32_t at = 0; at < groupElements_; at += tileElements_) {
      const uint32_t count = Count(at, groupElements_);
      CopyIn(Offset(group) + at, count);
      AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
      AscendC::Adds(x, x, -mean, static_cast<int32_t>(count));
      AscendC::Mul(x, x, x, static_cast<int32_t>(count));
      total += Reduce(x, work_, count);
      xQueue_.FreeTensor(x);
    }
    return total;
  }

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

extern "C" __global__ __aicore__ void group_norm_tiled(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                                                       GM_ADDR rstd, GM_ADDR workspace, GM_ADDR tiling) {
  (void)workspace;
  AscendC::TPipe pipe;
  GroupNormTiled op;
  op.Init(&pipe, x, gamma, beta, y, mean, rstd, reinterpret_cast<const __gm__ GroupNormTilingData*>(tiling));
  op.Process();
}
