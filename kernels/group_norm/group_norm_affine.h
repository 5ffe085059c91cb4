// gamma and beta in local memory, for step 4: two copies for all channels, instead of a read of global memory for each number.
//
// The scalar unit reads a number of local memory in a few cycles. A number of global memory is a journey to the L2 cache, of hundreds,
// and while the scalar unit waits for it, it sends nothing to the other pipes.
#pragma once
#include "../common/common_sync.h"
#include "kernel_operator.h"

class GroupNormAffine {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR gamma, GM_ADDR beta, uint32_t channels) {
    pipe_ = pipe;
    channels_ = channels;
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(gamma), channels);
    betaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(beta), channels);
    const uint32_t room = channels < kHeld ? (channels + 7) / 8 * 8 : kHeld;  // whole 32-byte blocks
    pipe_->InitBuffer(buffer_, 2 * room * sizeof(float));
    gamma_ = buffer_.Get<float>();
    beta_ = gamma_[room];
  }

  // Starts the copies: of all channels, or of kHeld from `channel` on if there are more. Whoever reads first waits for MTE2.
  __aicore__ inline void Bring(uint32_t channel) {
    first_ = channels_ <= kHeld ? 0 : channel;
    end_ = channels_ - first_ <= kHeld ? channels_ : first_ + kHeld;
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>((end_ - first_) * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    SyncPipes<AscendC::HardEvent::S_MTE2>(pipe_);  // the numbers that are there have been read
    AscendC::DataCopyPad(gamma_, gammaGm_[first_], row, pad);
    AscendC::DataCopyPad(beta_, betaGm_[first_], row, pad);
  }

  __aicore__ inline float Gamma(uint32_t channel) { return gamma_.GetValue(PlaceOf(channel)); }
  __aicore__ inline float Beta(uint32_t channel) { return beta_.GetValue(PlaceOf(channel)); }

 private:
  static constexpr uint32_t kHeld = 2048;  // channels at once: 8 KiB of gamma, and 8 of beta

  // Of more channels than kHeld others may be there; then these are brought, and waited for.
  __aicore__ inline uint32_t PlaceOf(uint32_t channel) {
    if (channel < first_ || channel >= end_) {
      Bring(channel);
      SyncPipes<AscendC::HardEvent::MTE2_S>(pipe_);
    }
    return channel - first_;
  }

  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer_;
  AscendC::LocalTensor<float> gamma_;  // of the channels first_ .. end_ - 1
  AscendC::LocalTensor<float> beta_;
  AscendC::GlobalTensor<float> gammaGm_;
  AscendC::GlobalTensor<float> betaGm_;
  uint32_t channels_ = 0;
  uint32_t first_ = 0;
  uint32_t end_ = 0;
};
