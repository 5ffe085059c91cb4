// How mean and rstd leave, for step 5 and later: those of many groups in one copy, when the tile is full and at the end.
#pragma once
#include "group_norm_core.h"
#include "group_norm_tiling.h"
#include "kernel_operator.h"

class GroupNormResults {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR mean, GM_ADDR rstd,
                              const __gm__ GroupNormTilingData* tiling) {
    pipe_ = pipe;
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);
    pipe_->InitBuffer(buffer_, 2 * kGroups * sizeof(float));
    meanTile_ = buffer_.GetWithOffset<float>(kGroups, 0);
    rstdTile_ = buffer_.GetWithOffset<float>(kGroups, kGroups * sizeof(float));
    id_ = pipe_->AllocEventID<AscendC::HardEvent::MTE3_S>();
  }

  // Groups come in their order; the copy is for those up to `group`. Best before the y of the group leave, when MTE3 has nothing to do.
  __aicore__ inline void Keep(uint32_t group, float mean, float rstd, bool last) {
    WaitUntilGone();
    meanTile_.SetValue(kept_, mean);
    rstdTile_.SetValue(kept_, rstd);
    ++kept_;
    if (kept_ < kGroups && !last) return;
    SyncPipes<AscendC::HardEvent::S_MTE3>(pipe_);
    const uint32_t first = group + 1 - kept_;
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(kept_ * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(meanGm_[first], meanTile_, row);
    AscendC::DataCopyPad(rstdGm_[first], rstdTile_, row);
    AscendC::SetFlag<AscendC::HardEvent::MTE3_S>(id_);
    leave_ = true;
    kept_ = 0;
  }

  __aicore__ inline void Finish() {
    WaitUntilGone();
    pipe_->ReleaseEventID<AscendC::HardEvent::MTE3_S>(id_);
  }

 private:
  __aicore__ inline void WaitUntilGone() {
    if (leave_) AscendC::WaitFlag<AscendC::HardEvent::MTE3_S>(id_);
    leave_ = false;
  }

  static constexpr uint32_t kGroups = 512;
  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECOUT> buffer_;
  AscendC::LocalTensor<float> meanTile_;
  AscendC::LocalTensor<float> rstdTile_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  uint32_t kept_ = 0;
  AscendC::TEventID id_ = 0;
  bool leave_ = false;
};
