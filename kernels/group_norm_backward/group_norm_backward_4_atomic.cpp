// The gradients of GroupNorm, step 4, a byway: dgamma and dbeta by atomic additions.
//
// New since step 2, instead of step 3: a row's share is added to dgamma and dbeta by the copy that takes it there. No workspace and
// no second stage, but somebody has to clear dgamma and dbeta first. If every core cleared all of them, one would wipe out what
// another has added already; so each core clears its own channels, and all cores meet before the first addition.
// The sums are right, and not the same twice: a copy adds when it arrives, float addition rounds each time, and the order in which
// cores arrive is nobody's choice. On the twin TwinOptions(block_order=...) changes that order. Step 3 is what to use.
// The timeline should show that of step 3 with its meeting at the beginning, and nothing after dx.
#include "group_norm_backward_parts.h"

class GroupNormBackwardAtomic : public GroupNormBackwardParts {
 public:
  __aicore__ inline void Process() {
    ClearOwnChannels();
    AscendC::SyncAll();
    for (uint32_t group = groups_.first; group < groups_.last; ++group) WriteDx(group, Measure(group));
  }

 private:
  __aicore__ inline void ClearOwnChannels() {
    AscendC::Duplicate(dgammaKept_, 0.0f, static_cast<int32_t>(kKept));
    AscendC::Duplicate(dbetaKept_, 0.0f, static_cast<int32_t>(kKept));
    Sync<AscendC::HardEvent::V_MTE3>();
    for (uint32_t channel = channels_.first; channel < channels_.last; channel += kKept) {
      const uint32_t left = channels_.last - channel;
      StoreKept(dgammaGm_[channel], dbetaGm_[channel], left < kKept ? left : kKept);
    }
  }

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
      // The setting holds for every copy out of this core until it is taken back: dx must not be added to what was there.
      AscendC::SetAtomicAdd<float>();
      StoreKept(dgammaGm_[c + 1 - kept], dbetaGm_[c + 1 - kept], kept);
      AscendC::SetAtomicNone();
      kept = 0;
    }
    return LineOf(weighted, rstd);
  }
};

extern "C" __global__ __aicore__ void group_norm_backward_atomic(GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd,
                                                                 GM_ADDR gamma, GM_ADDR dx, GM_ADDR dgamma,
                                                                 GM_ADDR dbeta, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  (void)workspace;
  AscendC::TPipe pipe;
  GroupNormBackwardAtomic op;
  op.Init(&pipe, dy, x, mean, rstd, gamma, dx, dgamma, dbeta,
          reinterpret_cast<const __gm__ GroupNormBackwardTilingData*>(tiling));
  op.Process();
}
