// GroupNorm, step 1: every element through the scalar unit.
//
// y = (x - mean) * rstd * gamma + beta with mean and rstd = 1 / sqrt(variance + eps) of each group. The straightest translation of
// the formula: three passes over a group (sum, squared differences, result), a small fixed chunk at a time, GetValue and SetValue
// for every element. Whole groups are dealt to cores. The timeline should show a solid bar of scalar work (S) and almost nothing
// on the DMA pipes: every later step is about emptying that bar.
#include "group_norm_tiling.h"
#include "kernel_operator.h"

constexpr uint32_t kChunk = 1024;  // elements staged at once: 4 KiB in, 4 KiB out

class GroupNormScalar {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, const __gm__ GroupNormTilingData* tiling) {
    pipe_ = pipe;
    spatial_ = tiling->spatial;
    groups_ = tiling->groups;
    channelsPerGroup_ = tiling->channelsPerGroup;
    groupElements_ = tiling->groupElements;
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

    pipe_->InitBuffer(inBuf_, kChunk * sizeof(float));
    pipe_->InitBuffer(outBuf_, kChunk * sizeof(float));
    pipe_->InitBuffer(statBuf_, 64);
    in_ = inBuf_.Get<float>();
    out_ = outBuf_.Get<float>();
    meanTile_ = statBuf_.GetWithOffset<float>(8, 0);
    rstdTile_ = statBuf_.GetWithOffset<float>(8, 32);
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
  // The pipes work on their own; a flag makes one wait for another. Set by the first pipe of the event, awaited by the other.
  template <AscendC::HardEvent event>
  __aicore__ inline void Sync() {
    const AscendC::TEventID id = pipe_->FetchEventID<event>();
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  // Brings `count` elements of the group from `at` into in_, after the scalar unit has finished with what was there.
  __aicore__ inline void Load(uint32_t group, uint32_t at, uint32_t count) {
    Sync<AscendC::HardEvent::S_MTE2>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(in_, xGm_[Offset(group, at)], row, pad);
    Sync<AscendC::HardEvent::MTE2_S>();
  }

  __aicore__ inline void Store(uint32_t group, uint32_t at, uint32_t count) {
    Sync<AscendC::HardEvent::S_MTE3>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(yGm_[Offset(group, at)], out_, row);
    Sync<AscendC::HardEvent::MTE3_S>();
  }

  // A sum per chunk, then a sum of those: adding a million elements one by one to a single float would lose the small ones.
  __aicore__ inline float Sum(uint32_t group) {
    float total = 0.0f;
    for (uint32_t at = 0; at < groupElements_; at += kChunk) {
      const uint32_t count = Count(at);
      Load(group, at, count);
      float part = 0.0f;
      for (uint32_t i = 0; i < count; ++i) part += in_.GetValue(i);
      total += part;
    }
    return total;
  }

  // Differences from the mean, not sum(x * x) - mean * mean: that formula cancels when the mean is large.
  __aicore__ inline float SumOfSquares(uint32_t group, float mean) {
    float total = 0.0f;
    for (uint32_t at = 0; at < groupElements_; at += kChunk) {
      const uint32_t count = Count(at);
      Load(group, at, count);
      float part = 0.0f;
      for (uint32_t i = 0; i < count; ++i) {
        const float difference = in_.GetValue(i) - mean;
        part += difference * difference;
      }
      total += part;
    }
    return total;
  }

  // The scalar unit has no documented square root, so one element takes a detour over the vector unit.
  __aicore__ inline float ReciprocalRoot(float value) {
    rstdTile_.SetValue(0, value);
    Sync<AscendC::HardEvent::S_V>();
    AscendC::Sqrt(rstdTile_, rstdTile_, 1);
    Sync<AscendC::HardEvent::V_S>();
    return 1.0f / rstdTile_.GetValue(0);
  }

  __aicore__ inline void Normalise(uint32_t group, float mean, float rstd) {
    // gamma and beta change from channel to channel inside the group: every spatial_ elements.
    uint32_t channel = group % groups_ * channelsPerGroup_;
    uint32_t left = 0;
    float gamma = 0.0f;
    float beta = 0.0f;
    for (uint32_t at = 0; at < groupElements_; at += kChunk) {
      const uint32_t count = Count(at);
      Load(group, at, count);
      for (uint32_t i = 0; i < count; ++i) {
        if (left == 0) {
          gamma = gammaGm_.GetValue(channel);
          beta = betaGm_.GetValue(channel);
          ++channel;
          left = spatial_;
        }
        --left;
        out_.SetValue(i, (in_.GetValue(i) - mean) * rstd * gamma + beta);
      }
      Store(group, at, count);
    }
  }

  // One float each: DataCopyPad writes exactly four bytes, so neighbouring cores do not disturb each other.
  __aicore__ inline void WriteStatistics(uint32_t group, float mean, float rstd) {
    meanTile_.SetValue(0, mean);
    rstdTile_.SetValue(0, rstd);
    Sync<AscendC::HardEvent::S_MTE3>();
    AscendC::DataCopyExtParams one{1, sizeof(float), 0, 0, 0};
    AscendC::DataCopyPad(meanGm_[group], meanTile_, one);
    AscendC::DataCopyPad(rstdGm_[group], rstdTile_, one);
    Sync<AscendC::HardEvent::MTE3_S>();
  }

  __aicore__ inline uint32_t Count(uint32_t at) const {
    return groupElements_ - at < kChunk ? groupElements_ - at : kChunk;
  }
  __aicore__ inline uint64_t Offset(uint32_t group, uint32_t at) const {
    return static_cast<uint64_t>(group) * groupElements_ + at;
  }

  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TBuf<AscendC::TPosition::VECIN> inBuf_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> outBuf_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> statBuf_;
  AscendC::LocalTensor<float> in_;
  AscendC::LocalTensor<float> out_;
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
  uint32_t first_ = 0;
  uint32_t last_ = 0;
  float eps_ = 0.0f;
};

extern "C" __global__ __aicore__ void group_norm_scalar(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                                                        GM_ADDR rstd, GM_ADDR workspace, GM_ADDR tiling) {
  (void)workspace;
  AscendC::TPipe pipe;
  GroupNormScalar op;
  op.Init(&pipe, x, gamma, beta, y, mean, rstd, reinterpret_cast<const __gm__ GroupNormTilingData*>(tiling));
  op.Process();
}
