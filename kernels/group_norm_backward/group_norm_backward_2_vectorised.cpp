// The gradients of GroupNorm, step 2: tiles through the vector unit.
//
// New since step 1: vector instructions in their count form replace the loops over elements, tiles come and go through queues with
// two buffers each, and the host's tiling function chooses the tile, so that a row may be larger than the Unified Buffer. The
// division of the work is that of step 1: dx by groups in two passes, then dgamma and dbeta by channels in a third.
// The timeline should show the bar of scalar work gone, MTE2 busy for three reads of dy and x, and a core that waits for its sums
// after each tile of the first and the third pass.
#include "group_norm_backward_parts.h"

class GroupNormBackwardVectorised : public GroupNormBackwardParts {
 public:
  __aicore__ inline void Process() {
    for (uint32_t group = groups_.first; group < groups_.last; ++group) WriteDx(group, Measure(group));
    uint32_t kept = 0;
    for (uint32_t channel = channels_.first; channel < channels_.last; ++channel) {
      SumChannel(channel, kept++);
      if (kept < kKept && channel + 1 < channels_.last) continue;
      StoreKept(dgammaGm_[channel + 1 - kept], dbetaGm_[channel + 1 - kept], kept);
      kept = 0;
    }
  }

 private:
  // The first pass over a group. gamma is one number for a row, so it weighs the row's sums instead of its elements.
  __aicore__ inline Line Measure(uint32_t group) {
    const uint32_t first = FirstChannel(group);
    const float mean = meanGm_.GetValue(group);
    Sums weighted{0.0f, 0.0f};
    for (uint32_t c = first; c < first + tiling_->channelsPerGroup; ++c) {
      const Sums sums = SumRow(Row(SampleOf(group), c), mean);
      const float gamma = gammaGm_.GetValue(c);
      weighted.plain += gamma * sums.plain;
      weighted.spread += gamma * sums.spread;
    }
    return LineOf(weighted, rstdGm_.GetValue(group));
  }

  // The third pass: the row of this channel in every sample. No other core writes this channel's sums.
  __aicore__ inline void SumChannel(uint32_t channel, uint32_t place) {
    float dgamma = 0.0f;
    float dbeta = 0.0f;
    for (uint32_t sample = 0; sample < tiling_->batch; ++sample) {
      const uint32_t group = sample * tiling_->groups + channel / tiling_->channelsPerGroup;
      const Sums sums = SumRow(Row(sample, channel), meanGm_.GetValue(group));
      dgamma += rstdGm_.GetValue(group) * sums.spread;
      dbeta += sums.plain;
    }
    dgammaKept_.SetValue(place, dgamma);
    dbetaKept_.SetValue(place, dbeta);
  }
};

extern "C" __global__ __aicore__ void group_norm_backward_vectorised(GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd,
                                                                     GM_ADDR gamma, GM_ADDR dx, GM_ADDR dgamma,
                                                                     GM_ADDR dbeta, GM_ADDR workspace, GM_ADDR tiling) {
  (void)workspace;
  AscendC::TPipe pipe;
  GroupNormBackwardVectorised op;
  op.Init(&pipe, dy, x, mean, rstd, gamma, dx, dgamma, dbeta,
          reinterpret_cast<const __gm__ GroupNormBackwardTilingData*>(tiling));
  op.Process();
}
