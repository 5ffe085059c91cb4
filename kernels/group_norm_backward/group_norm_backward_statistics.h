// Mean and rstd of groups, for step 5's first stage: those of a core's own groups come in two copies. The scalar unit reads a number of
// local memory in a few cycles; one of global memory is a journey of hundreds, in which it sends nothing to the other pipes.
#pragma once
#include "../common/common_sync.h"
#include "kernel_operator.h"

class GroupNormBackwardStatistics {
 public:
  // Starts the copies for groups first .. last - 1, or the first kHeld of them. Others are read where they are.
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR mean, GM_ADDR rstd, uint32_t total, uint32_t first,
                              uint32_t last) {
    pipe_ = pipe;
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), total);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), total);
    first_ = first;
    held_ = last - first < kHeld ? last - first : kHeld;
    if (held_ == 0) return;
    pipe_->InitBuffer(buffer_, 2 * kHeld * sizeof(float));
    mean_ = buffer_.GetWithOffset<float>(kHeld, 0);
    rstd_ = buffer_.GetWithOffset<float>(kHeld, kHeld * sizeof(float));
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(held_ * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> any{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(mean_, meanGm_[first], row, any);
    AscendC::DataCopyPad(rstd_, rstdGm_[first], row, any);
    // The slots have all ids from MTE2 to the scalar unit; MTE3 has nothing to do yet, and waits in its place.
    arrived_ = pipe_->FetchEventID<AscendC::HardEvent::MTE2_MTE3>();
    AscendC::SetFlag<AscendC::HardEvent::MTE2_MTE3>(arrived_);
    onTheirWay_ = true;
  }

  __aicore__ inline float Mean(uint32_t group) {
    return Holds(group) ? mean_.GetValue(group - first_) : meanGm_.GetValue(group);
  }
  __aicore__ inline float Rstd(uint32_t group) {
    return Holds(group) ? rstd_.GetValue(group - first_) : rstdGm_.GetValue(group);
  }
  // Nothing was asked for: the flag is awaited all the same.
  __aicore__ inline void Finish() { Arrive(); }

 private:
  __aicore__ inline bool Holds(uint32_t group) {
    Arrive();
    return group >= first_ && group - first_ < held_;
  }
  __aicore__ inline void Arrive() {
    if (!onTheirWay_) return;
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_MTE3>(arrived_);
    SyncPipes<AscendC::HardEvent::MTE3_S>(pipe_);
    onTheirWay_ = false;
  }

  static constexpr uint32_t kHeld = 512;
  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer_;
  AscendC::LocalTensor<float> mean_;
  AscendC::LocalTensor<float> rstd_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  uint32_t first_ = 0;
  uint32_t held_ = 0;
  AscendC::TEventID arrived_ = 0;
  bool onTheirWay_ = false;
};
