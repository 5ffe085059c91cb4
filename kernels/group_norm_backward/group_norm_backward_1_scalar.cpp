// The gradients of GroupNorm, step 1: every element through the scalar unit.
//
// With xhat = (x - mean) * rstd and a = dy * gamma, and E the mean over one group of one sample:
//   dx = rstd * (a - E[a] - xhat * E[a * xhat]), and for each channel, over all samples: dgamma = sum(dy * xhat), dbeta = sum(dy).
// gamma differs from channel to channel of a group, so it goes in before the means. The two halves divide the work along different
// axes. dx belongs to groups: cores take whole groups and go over each twice. dgamma and dbeta belong to channels: a core owns a
// channel, goes through all samples, and is the only one that writes its sums, so that nothing has to be cleared or shared.
// The timeline should show a solid bar of scalar work (S), and dy and x read three times.
#include "group_norm_backward_tiling.h"
#include "kernel_operator.h"

constexpr uint32_t kChunk = 1024;  // elements of a tensor staged at once

class GroupNormBackwardScalar {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd, GM_ADDR gamma,
                              GM_ADDR dx, GM_ADDR dgamma, GM_ADDR dbeta,
                              const __gm__ GroupNormBackwardTilingData* tiling) {
    pipe_ = pipe;
    tiling_ = tiling;
    const uint64_t elements = static_cast<uint64_t>(tiling->totalGroups) * tiling->groupElements;
    dyGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dy), elements);
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), elements);
    dxGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dx), elements);
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(gamma), tiling->channels);
    dgammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dgamma), tiling->channels);
    dbetaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dbeta), tiling->channels);
    pipe_->InitBuffer(inBuf_, 2 * kChunk * sizeof(float));
    pipe_->InitBuffer(outBuf_, kChunk * sizeof(float));
    dy_ = inBuf_.Get<float>();
    x_ = dy_[kChunk];
    out_ = outBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    const uint32_t moreGroups = core < tiling_->extraGroups ? core : tiling_->extraGroups;
    const uint32_t group = core * tiling_->groupsPerCore + moreGroups;
    const uint32_t groups = tiling_->groupsPerCore + (core < tiling_->extraGroups ? 1 : 0);
    for (uint32_t i = 0; i < groups; ++i) InputGradient(group + i);

    const uint32_t moreChannels = core < tiling_->extraChannels ? core : tiling_->extraChannels;
    const uint32_t channel = core * tiling_->channelsPerCore + moreChannels;
    const uint32_t channels = tiling_->channelsPerCore + (core < tiling_->extraChannels ? 1 : 0);
    for (uint32_t i = 0; i < channels; ++i) ParameterGradients(channel + i);
  }

 private:
  struct Sums {
    float plain;   // of dy
    float spread;  // of dy * (x - mean)
  };

  // A row: one channel of one sample, `spatial` elements that share gamma, mean and rstd.
  __aicore__ inline uint64_t Row(uint32_t sample, uint32_t channel) const {
    return (static_cast<uint64_t>(sample) * tiling_->channels + channel) * tiling_->spatial;
  }
  __aicore__ inline uint32_t Count(uint32_t at) const {
    return tiling_->spatial - at < kChunk ? tiling_->spatial - at : kChunk;
  }

  // A sum per chunk, then a sum of those: adding a million elements one by one to a single float would lose the small ones.
  __aicore__ inline Sums SumRow(uint64_t row, float mean) {
    Sums total{0.0f, 0.0f};
    for (uint32_t at = 0; at < tiling_->spatial; at += kChunk) {
      const uint32_t count = Count(at);
      Load(row + at, count);
      Sums part{0.0f, 0.0f};
      for (uint32_t i = 0; i < count; ++i) {
        const float dy = dy_.GetValue(i);
        part.plain += dy;
        part.spread += dy * (x_.GetValue(i) - mean);
      }
      total.plain += part.plain;
      total.spread += part.spread;
    }
    return total;
  }

  __aicore__ inline void InputGradient(uint32_t group) {
    const uint32_t sample = group / tiling_->groups;
    const uint32_t first = group % tiling_->groups * tiling_->channelsPerGroup;
    const float mean = meanGm_.GetValue(group);
    const float rstd = rstdGm_.GetValue(group);
    float plain = 0.0f;
    float spread = 0.0f;
    for (uint32_t c = first; c < first + tiling_->channelsPerGroup; ++c) {
      const Sums sums = SumRow(Row(sample, c), mean);
      plain += gammaGm_.GetValue(c) * sums.plain;
      spread += gammaGm_.GetValue(c) * sums.spread;
    }
    const float count = static_cast<float>(tiling_->groupElements);
    const float shift = plain / count;                 // E[a]
    const float slope = rstd * rstd * spread / count;  // E[a * xhat] * rstd, for x - mean instead of xhat
    for (uint32_t c = first; c < first + tiling_->channelsPerGroup; ++c) {
      const float gamma = gammaGm_.GetValue(c);
      for (uint32_t at = 0; at < tiling_->spatial; at += kChunk) {
        const uint32_t count = Count(at);
        Load(Row(sample, c) + at, count);
        for (uint32_t i = 0; i < count; ++i)
          out_.SetValue(i, rstd * (dy_.GetValue(i) * gamma - shift - (x_.GetValue(i) - mean) * slope));
        Store(dxGm_[Row(sample, c) + at], count);
      }
    }
  }

  __aicore__ inline void ParameterGradients(uint32_t channel) {
    float dgamma = 0.0f;
    float dbeta = 0.0f;
    for (uint32_t sample = 0; sample < tiling_->batch; ++sample) {
      const uint32_t group = sample * tiling_->groups + channel / tiling_->channelsPerGroup;
      const Sums sums = SumRow(Row(sample, channel), meanGm_.GetValue(group));
      dgamma += rstdGm_.GetValue(group) * sums.spread;
      dbeta += sums.plain;
    }
    // One float each: DataCopyPad writes exactly four bytes, so neighbouring cores do not disturb each other.
    out_.SetValue(0, dgamma);
    Store(dgammaGm_[channel], 1);
    out_.SetValue(0, dbeta);
    Store(dbetaGm_[channel], 1);
  }

  // The pipes work on their own; a flag makes one wait for another. Set by the first pipe of the event, awaited by the other.
  template <AscendC::HardEvent event>
  __aicore__ inline void Sync() {
    const AscendC::TEventID id = pipe_->FetchEventID<event>();
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  // Brings `count` elements of dy and x, after the scalar unit has finished with what was there.
  __aicore__ inline void Load(uint64_t at, uint32_t count) {
    Sync<AscendC::HardEvent::S_MTE2>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(dy_, dyGm_[at], row, pad);
    AscendC::DataCopyPad(x_, xGm_[at], row, pad);
    Sync<AscendC::HardEvent::MTE2_S>();
  }

  __aicore__ inline void Store(const AscendC::GlobalTensor<float>& to, uint32_t count) {
    Sync<AscendC::HardEvent::S_MTE3>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(to, out_, row);
    Sync<AscendC::HardEvent::MTE3_S>();
  }

  AscendC::TPipe* pipe_ = nullptr;
  const __gm__ GroupNormBackwardTilingData* tiling_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECIN> inBuf_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> outBuf_;
  AscendC::LocalTensor<float> dy_;
  AscendC::LocalTensor<float> x_;
  AscendC::LocalTensor<float> out_;
  AscendC::GlobalTensor<float> dyGm_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> dxGm_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  AscendC::GlobalTensor<float> gammaGm_;
  AscendC::GlobalTensor<float> dgammaGm_;
  AscendC::GlobalTensor<float> dbetaGm_;
};

extern "C" __global__ __aicore__ void group_norm_backward_scalar(GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd,
                                                                 GM_ADDR gamma, GM_ADDR dx, GM_ADDR dgamma,
                                                                 GM_ADDR dbeta, GM_ADDR workspace, GM_ADDR tiling) {
  (void)workspace;
  AscendC::TPipe pipe;
  GroupNormBackwardScalar op;
  op.Init(&pipe, dy, x, mean, rstd, gamma, dx, dgamma, dbeta,
          reinterpret_cast<const __gm__ GroupNormBackwardTilingData*>(tiling));
  op.Process();
}
