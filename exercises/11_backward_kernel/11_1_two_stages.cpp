// 11.1 dgamma and dbeta in two stages.
//
// dy and xhat hold `samples` rows of `channels` floats: a batch of vectors, without
// spatial axes; xhat is given. For each channel, over all samples:
// dgamma = sum(dy * xhat), dbeta = sum(dy). Each core takes every GetBlockNum()-th
// sample. No atomics.
//
// The workspace has a row for each core: `channels` floats for its share of dgamma,
// then `channels` floats for its share of dbeta. There may be more cores than samples.
// The workspace is not cleared before the launch.
#include "kernel_operator.h"

constexpr uint32_t kTile = 64;  // channels that are in local memory at once

class TwoStages {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dy, GM_ADDR xhat,
                              GM_ADDR dgamma, GM_ADDR dbeta, GM_ADDR workspace,
                              uint32_t samples, uint32_t channels) {
    core_ = static_cast<uint32_t>(AscendC::GetBlockIdx());
    cores_ = static_cast<uint32_t>(AscendC::GetBlockNum());
    samples_ = samples;
    channels_ = channels;
    const uint64_t elements = static_cast<uint64_t>(samples) * channels;
    dyGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dy), elements);
    xhatGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(xhat), elements);
    dgammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dgamma), channels);
    dbetaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dbeta), channels);
    sharesGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(workspace),
                              2 * static_cast<uint64_t>(cores_) * channels);
    pipe->InitBuffer(inQueue_, 2, 2 * kTile * sizeof(float));
    pipe->InitBuffer(outQueue_, 2, 2 * kTile * sizeof(float));
  }

  // YOUR TURN: the first stage is given. What has to happen before the second one? In
  // the second stage, every tile of channels belongs to one core.
  __aicore__ inline void Process() {
    for (uint32_t channel = 0; channel < channels_; channel += kTile)
      AddSamples(channel, Count(channel));
  }

 private:
  // The first stage: what this core's samples add to the `count` channels from
  // `channel` on.
  __aicore__ inline void AddSamples(uint32_t channel, uint32_t count) {
    const int32_t n = static_cast<int32_t>(count);
    // kTile floats of dgamma, then kTile floats of dbeta.
    AscendC::LocalTensor<float> sums = outQueue_.AllocTensor<float>();
    AscendC::Duplicate(sums, 0.0f, 2 * static_cast<int32_t>(kTile));
    for (uint32_t sample = core_; sample < samples_; sample += cores_) {
      const uint64_t at = static_cast<uint64_t>(sample) * channels_ + channel;
      AscendC::LocalTensor<float> rows = CopyIn(dyGm_[at], xhatGm_[at], count);
      AscendC::Add(sums[kTile], sums[kTile], rows, n);
      AscendC::Mul(rows, rows, rows[kTile], n);
      AscendC::Add(sums, sums, rows, n);
      inQueue_.FreeTensor(rows);
    }
    outQueue_.EnQue(sums);
    // YOUR TURN: every core writes to the same place here. Its share belongs in its own
    // row of the workspace.
    CopyOut(dgammaGm_[channel], dbetaGm_[channel], count);
  }

  // The second stage: the shares of all cores, for the `count` channels from `channel`
  // on.
  __aicore__ inline void AddCores(uint32_t channel, uint32_t count) {
    // YOUR TURN: like AddSamples, with rows of the workspace instead of samples.
    (void)channel;
    (void)count;
  }

  // Channels of the tile that begins at `channel`.
  __aicore__ inline uint32_t Count(uint32_t channel) const {
    return channels_ - channel < kTile ? channels_ - channel : kTile;
  }

  // `count` floats from each of two places: the first ones at 0 of the tensor, the
  // others at kTile.
  __aicore__ inline AscendC::LocalTensor<float> CopyIn(
      const AscendC::GlobalTensor<float>& one,
      const AscendC::GlobalTensor<float>& other, uint32_t count) {
    AscendC::LocalTensor<float> rows = inQueue_.AllocTensor<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0,
                                   0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(rows, one, row, pad);
    AscendC::DataCopyPad(rows[kTile], other, row, pad);
    inQueue_.EnQue(rows);
    return inQueue_.DeQue<float>();
  }

  // The tensor that waits in outQueue_: `count` floats from its place 0 to `one`,
  // `count` from kTile to `other`.
  __aicore__ inline void CopyOut(const AscendC::GlobalTensor<float>& one,
                                 const AscendC::GlobalTensor<float>& other,
                                 uint32_t count) {
    AscendC::LocalTensor<float> sums = outQueue_.DeQue<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0,
                                   0, 0};
    AscendC::DataCopyPad(one, sums, row);
    AscendC::DataCopyPad(other, sums[kTile], row);
    outQueue_.FreeTensor(sums);
  }

  AscendC::TQue<AscendC::TPosition::VECIN, 1> inQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> outQueue_;
  AscendC::GlobalTensor<float> dyGm_;
  AscendC::GlobalTensor<float> xhatGm_;
  AscendC::GlobalTensor<float> dgammaGm_;
  AscendC::GlobalTensor<float> dbetaGm_;
  AscendC::GlobalTensor<float> sharesGm_;  // the workspace
  uint32_t core_ = 0;
  uint32_t cores_ = 1;
  uint32_t samples_ = 0;
  uint32_t channels_ = 0;
};

extern "C" __global__ __aicore__ void two_stages(GM_ADDR dy, GM_ADDR xhat,
                                                 GM_ADDR dgamma, GM_ADDR dbeta,
                                                 GM_ADDR workspace, uint32_t samples,
                                                 uint32_t channels) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll asks for it
  AscendC::TPipe pipe;
  TwoStages op;
  op.Init(&pipe, dy, xhat, dgamma, dbeta, workspace, samples, channels);
  op.Process();
}
