// The gradients of GroupNorm, step 3: dgamma and dbeta in two stages.
//
// New since step 2: the third read of dy and x is gone. The sums of a row, which the first pass takes for dx anyway, are that row's
// share of its channel's dgamma and dbeta: the core writes them to the workspace, at the place of the row. All cores meet, and each
// then adds up the samples of its own channels. Who computed a row depends on the number of cores, but where its share stands does
// not, nor the order in which the shares are added: the bits are the same in every run and on any number of cores.
// The timeline should show two reads instead of three, one wait for all cores, and a short second stage.
#include "group_norm_backward_parts.h"

class GroupNormBackwardTwoStages : public GroupNormBackwardParts {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd, GM_ADDR gamma,
                              GM_ADDR dx, GM_ADDR dgamma, GM_ADDR dbeta, GM_ADDR workspace,
                              const __gm__ GroupNormBackwardTilingData* tiling) {
    GroupNormBackwardParts::Init(pipe, dy, x, mean, rstd, gamma, dx, dgamma, dbeta, tiling);
    rows_ = static_cast<uint64_t>(tiling->batch) * tiling->channels;
    table_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(workspace), 2 * rows_);
  }

  __aicore__ inline void Process() {
    for (uint32_t group = groups_.first; group < groups_.last; ++group) WriteDx(group, Measure(group));
    AscendC::SyncAll();
    for (uint32_t channel = channels_.first; channel < channels_.last; channel += tileElements_) {
      const uint32_t left = channels_.last - channel;
      const uint32_t count = left < tileElements_ ? left : tileElements_;
      AddSamples(table_[channel], dgammaGm_[channel], count);
      AddSamples(table_[rows_ + channel], dbetaGm_[channel], count);
    }
  }

 private:
  __aicore__ inline Line Measure(uint32_t group) {
    const uint32_t first = FirstChannel(group);
    const uint32_t last = first + tiling_->channelsPerGroup;
    const float mean = meanGm_.GetValue(group);
    const float rstd = rstdGm_.GetValue(group);
    Sums weighted{0.0f, 0.0f};
    uint32_t kept = 0;
    for (uint32_t c = first; c < last; ++c) {
      const Sums sums = SumRow(Row(SampleOf(group), c), mean);
      const float gamma = gammaGm_.GetValue(c);
      weighted.plain += gamma * sums.plain;
      weighted.spread += gamma * sums.spread;
      dgammaKept_.SetValue(kept, rstd * sums.spread);
      dbetaKept_.SetValue(kept++, sums.plain);
      if (kept < kKept && c + 1 < last) continue;
      const uint64_t place = static_cast<uint64_t>(SampleOf(group)) * tiling_->channels + c + 1 - kept;
      StoreKept(table_[place], table_[rows_ + place], kept);
      kept = 0;
    }
    return LineOf(weighted, rstd);
  }

  // The shares of `count` channels, sample after sample.
  __aicore__ inline void AddSamples(const AscendC::GlobalTensor<float>& shares, const AscendC::GlobalTensor<float>& to,
                                    uint32_t count) {
    AscendC::LocalTensor<float> total = dxQueue_.AllocTensor<float>();
    AscendC::Duplicate(total, 0.0f, static_cast<int32_t>(count));
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    for (uint32_t sample = 0; sample < tiling_->batch; ++sample) {
      AscendC::LocalTensor<float> share = xQueue_.AllocTensor<float>();
      AscendC::DataCopyPad(share, shares[static_cast<uint64_t>(sample) * tiling_->channels], row, pad);
      xQueue_.EnQue(share);
      share = xQueue_.DeQue<float>();
      AscendC::Add(total, total, share, static_cast<int32_t>(count));
      xQueue_.FreeTensor(share);
    }
    dxQueue_.EnQue(total);
    CopyOut(to, count);
  }

  AscendC::GlobalTensor<float> table_;  // dgamma of every row, then dbeta of every row
  uint64_t rows_ = 0;                   // N * C
};

extern "C" __global__ __aicore__ void group_norm_backward_two_stages(GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd,
                                                                     GM_ADDR gamma, GM_ADDR dx, GM_ADDR dgamma,
                                                                     GM_ADDR dbeta, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  AscendC::TPipe pipe;
  GroupNormBackwardTwoStages op;
  op.Init(&pipe, dy, x, mean, rstd, gamma, dx, dgamma, dbeta, workspace,
          reinterpret_cast<const __gm__ GroupNormBackwardTilingData*>(tiling));
  op.Process();
}
