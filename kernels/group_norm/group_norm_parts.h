// What steps 2 and later have in common and none of them changes: the arguments, the share of a core, the flags between the scalar
// unit and the other pipes, and the way out of the statistics. Step 1 has all of it in one file.
#pragma once
#include "group_norm_tiling.h"
#include "kernel_operator.h"

class GroupNormParts {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, const __gm__ GroupNormTilingData* tiling) {
    pipe_ = pipe;
    spatial_ = tiling->spatial;
    groups_ = tiling->groups;
    channelsPerGroup_ = tiling->channelsPerGroup;
    groupElements_ = tiling->groupElements;
    tileElements_ = tiling->tileElements;
    channelsPerTile_ = tiling->channelsPerTile;
    eps_ = tiling->eps;

    // Groups first_ .. last_ - 1 belong to this core; the first extraGroups cores take one more than the others.
    const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    const uint32_t extra = core < tiling->extraGroups ? core : tiling->extraGroups;
    first_ = core * tiling->groupsPerCore + extra;
    last_ = first_ + tiling->groupsPerCore + (core < tiling->extraGroups ? 1 : 0);

    const uint64_t elements = static_cast<uint64_t>(tiling->totalGroups) * groupElements_;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), elements);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), elements);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(gamma), tiling->channels);
    betaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(beta), tiling->channels);
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);

    pipe_->InitBuffer(sumBuf_, 32);
    pipe_->InitBuffer(statBuf_, 64);
    sum_ = sumBuf_.Get<float>();
    meanTile_ = statBuf_.GetWithOffset<float>(8, 0);
    rstdTile_ = statBuf_.GetWithOffset<float>(8, 32);
  }

 protected:
  // The second pipe of the event waits until the first has done all it was given so far.
  template <AscendC::HardEvent event>
  __aicore__ inline void Sync() {
    const AscendC::TEventID id = pipe_->FetchEventID<event>();
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  // The sum of `count` elements, as a number of the scalar unit, which waits for the vector unit here. `work` is scratch memory.
  __aicore__ inline float Reduce(const AscendC::LocalTensor<float>& values, const AscendC::LocalTensor<float>& work,
                                 uint32_t count) {
    AscendC::ReduceSum(sum_, values, work, static_cast<int32_t>(count));
    Sync<AscendC::HardEvent::V_S>();
    return sum_.GetValue(0);
  }

  // 1 / sqrt(value). The scalar unit has no documented square root, so one element takes a detour over the vector unit.
  __aicore__ inline float ReciprocalRoot(float value) {
    rstdTile_.SetValue(0, value);
    Sync<AscendC::HardEvent::S_V>();
    AscendC::Sqrt(rstdTile_, rstdTile_, 1);
    Sync<AscendC::HardEvent::V_S>();
    return 1.0f / rstdTile_.GetValue(0);
  }

  // One float each: DataCopyPad writes exactly four bytes, so neighbouring cores do not disturb each other.
  __aicore__ inline void WriteStatistics(uint32_t group, float mean, float rstd) {
    SendStatistics(group, mean, rstd);
    Sync<AscendC::HardEvent::MTE3_S>();
  }

  // The same without the wait at the end, which has to come before the next numbers of these two tiles.
  __aicore__ inline void SendStatistics(uint32_t group, float mean, float rstd) {
    meanTile_.SetValue(0, mean);
    rstdTile_.SetValue(0, rstd);
    Sync<AscendC::HardEvent::S_MTE3>();
    AscendC::DataCopyExtParams one{1, sizeof(float), 0, 0, 0};
    AscendC::DataCopyPad(meanGm_[group], meanTile_, one);
    AscendC::DataCopyPad(rstdGm_[group], rstdTile_, one);
  }

  // Elements of the tile that starts at `at` in a run of `length`.
  __aicore__ inline uint32_t Count(uint32_t at, uint32_t length) const {
    return length - at < tileElements_ ? length - at : tileElements_;
  }
  __aicore__ inline uint64_t Offset(uint32_t group) const { return static_cast<uint64_t>(group) * groupElements_; }
  __aicore__ inline uint32_t FirstChannel(uint32_t group) const { return group % groups_ * channelsPerGroup_; }

  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> statBuf_;
  AscendC::LocalTensor<float> sum_;
  AscendC::LocalTensor<float> meanTile_;
  AscendC::LocalTensor<float> rstdTile_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> yGm_;
  AscendC::GlobalTensor<float> gammaGm_;
  AscendC::GlobalTensor<float> betaGm_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  uint32_t spatial_ = 0;
  uint32_t groups_ = 0;
  uint32_t channelsPerGroup_ = 0;
  uint32_t groupElements_ = 0;
  uint32_t tileElements_ = 0;
  uint32_t channelsPerTile_ = 0;
  uint32_t first_ = 0;
  uint32_t last_ = 0;
  float eps_ = 0.0f;
};
