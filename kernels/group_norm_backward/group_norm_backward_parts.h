// What steps 2, 3 and 4 have in common and none of them changes: the arguments, tiles of rows through queues, the sums of a row,
// and the dx of a group. Step 1 has all of it in one file.
//
// A row is one channel of one sample: `spatial` elements that share gamma, mean and rstd.
#pragma once
#include "group_norm_backward_tiling.h"
#include "kernel_operator.h"

class GroupNormBackwardParts {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dy, GM_ADDR x, GM_ADDR mean, GM_ADDR rstd, GM_ADDR gamma,
                              GM_ADDR dx, GM_ADDR dgamma, GM_ADDR dbeta,
                              const __gm__ GroupNormBackwardTilingData* tiling) {
    pipe_ = pipe;
    tiling_ = tiling;
    spatial_ = tiling->spatial;
    tileElements_ = tiling->tileElements;
    const uint64_t elements = static_cast<uint64_t>(tiling->totalGroups) * tiling->groupElements;
    dyGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dy), elements);
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), elements);
    dxGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dx), elements);
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(gamma), tiling->channels);
    dgammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dgamma), tiling->channels);
    dbetaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dbeta), tiling->channels);

    const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    groups_ = ShareOf(core, tiling->groupsPerCore, tiling->extraGroups);
    channels_ = ShareOf(core, tiling->channelsPerCore, tiling->extraChannels);

    pipe_->InitBuffer(dyQueue_, 2, tileElements_ * sizeof(float));
    pipe_->InitBuffer(xQueue_, 2, tileElements_ * sizeof(float));
    pipe_->InitBuffer(dxQueue_, 2, tileElements_ * sizeof(float));
    pipe_->InitBuffer(workBuf_, tileElements_ * sizeof(float));
    pipe_->InitBuffer(sumBuf_, 64);
    pipe_->InitBuffer(keptBuf_, 2 * kKept * sizeof(float));
    work_ = workBuf_.Get<float>();
    plainSum_ = sumBuf_.GetWithOffset<float>(8, 0);
    spreadSum_ = sumBuf_.GetWithOffset<float>(8, 32);
    dgammaKept_ = keptBuf_.GetWithOffset<float>(kKept, 0);
    dbetaKept_ = keptBuf_.GetWithOffset<float>(kKept, kKept * sizeof(float));
  }

 protected:
  struct Share {
    uint32_t first;
    uint32_t last;  // one behind the end
  };
  struct Sums {
    float plain;   // of dy
    float spread;  // of dy * (x - mean)
  };
  // dx = rstd * (dy * gamma - shift - (x - mean) * slope) with shift = E[a] and slope = rstd * E[a * xhat], a = dy * gamma.
  struct Line {
    float shift;
    float slope;
  };

  __aicore__ inline Share ShareOf(uint32_t core, uint32_t each, uint32_t extra) const {
    const uint32_t first = core * each + (core < extra ? core : extra);
    return {first, first + each + (core < extra ? 1 : 0)};
  }
  __aicore__ inline uint32_t SampleOf(uint32_t group) const { return group / tiling_->groups; }
  __aicore__ inline uint32_t FirstChannel(uint32_t group) const {
    return group % tiling_->groups * tiling_->channelsPerGroup;
  }
  __aicore__ inline uint64_t Row(uint32_t sample, uint32_t channel) const {
    return (static_cast<uint64_t>(sample) * tiling_->channels + channel) * spatial_;
  }
  // Elements of the tile that starts at `at` in a row.
  __aicore__ inline uint32_t Count(uint32_t at) const {
    return spatial_ - at < tileElements_ ? spatial_ - at : tileElements_;
  }

  // The second pipe of the event waits until the first has done all it was given so far.
  template <AscendC::HardEvent event>
  __aicore__ inline void Sync() {
    const AscendC::TEventID id = pipe_->FetchEventID<event>();
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  // `count` elements of dy and of x from element `at` on, as the next tensors of their queues.
  __aicore__ inline void CopyIn(uint64_t at, uint32_t count) {
    AscendC::LocalTensor<float> dy = dyQueue_.AllocTensor<float>();
    AscendC::LocalTensor<float> x = xQueue_.AllocTensor<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(dy, dyGm_[at], row, pad);
    AscendC::DataCopyPad(x, xGm_[at], row, pad);
    dyQueue_.EnQue(dy);
    xQueue_.EnQue(x);
  }

  // The sums of a row, as numbers of the scalar unit, which waits for the vector unit once a tile. The next tile is on its way then.
  __aicore__ inline Sums SumRow(uint64_t row, float mean) {
    Sums total{0.0f, 0.0f};
    CopyIn(row, Count(0));
    for (uint32_t at = 0; at < spatial_; at += tileElements_) {
      AscendC::LocalTensor<float> dy = dyQueue_.DeQue<float>();
      AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
      if (at < spatial_ - Count(at)) CopyIn(row + at + tileElements_, Count(at + tileElements_));
      const int32_t n = static_cast<int32_t>(Count(at));
      AscendC::Adds(x, x, -mean, n);
      AscendC::Mul(x, x, dy, n);
      AscendC::ReduceSum(plainSum_, dy, work_, n);
      AscendC::ReduceSum(spreadSum_, x, work_, n);
      dyQueue_.FreeTensor(dy);
      xQueue_.FreeTensor(x);
      Sync<AscendC::HardEvent::V_S>();
      total.plain += plainSum_.GetValue(0);
      total.spread += spreadSum_.GetValue(0);
    }
    return total;
  }

  __aicore__ inline Line LineOf(const Sums& weighted, float rstd) const {
    const float count = static_cast<float>(tiling_->groupElements);
    return {weighted.plain / count, rstd * rstd * weighted.spread / count};
  }

  // The second pass over a group.
  __aicore__ inline void WriteDx(uint32_t group, const Line& line) {
    const uint32_t first = FirstChannel(group);
    const float mean = meanGm_.GetValue(group);
    const float rstd = rstdGm_.GetValue(group);
    for (uint32_t c = first; c < first + tiling_->channelsPerGroup; ++c) {
      const float gamma = gammaGm_.GetValue(c);
      const uint64_t row = Row(SampleOf(group), c);
      for (uint32_t at = 0; at < spatial_; at += tileElements_) {
        CopyIn(row + at, Count(at));
        ComputeDx(Count(at), gamma, mean, rstd, line);
        CopyOut(dxGm_[row + at], Count(at));
      }
    }
  }

  __aicore__ inline void ComputeDx(uint32_t count, float gamma, float mean, float rstd, const Line& line) {
    AscendC::LocalTensor<float> dy = dyQueue_.DeQue<float>();
    AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
    AscendC::LocalTensor<float> dx = dxQueue_.AllocTensor<float>();
    const int32_t n = static_cast<int32_t>(count);
    AscendC::Adds(x, x, -mean, n);
    AscendC::Muls(dx, dy, gamma, n);
    AscendC::Adds(dx, dx, -line.shift, n);
    AscendC::Axpy(dx, x, -line.slope, n);
    AscendC::Muls(dx, dx, rstd, n);
    dxQueue_.EnQue(dx);
    dyQueue_.FreeTensor(dy);
    xQueue_.FreeTensor(x);
  }

  __aicore__ inline void CopyOut(const AscendC::GlobalTensor<float>& to, uint32_t count) {
    AscendC::LocalTensor<float> dx = dxQueue_.DeQue<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(to, dx, row);
    dxQueue_.FreeTensor(dx);
  }

  // `count` of the kept sums, which the scalar unit wrote, to two places; it may write the next ones when this returns.
  __aicore__ inline void StoreKept(const AscendC::GlobalTensor<float>& dgammas,
                                   const AscendC::GlobalTensor<float>& dbetas, uint32_t count) {
    Sync<AscendC::HardEvent::S_MTE3>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(dgammas, dgammaKept_, row);
    AscendC::DataCopyPad(dbetas, dbetaKept_, row);
    Sync<AscendC::HardEvent::MTE3_S>();
  }

  static constexpr uint32_t kKept = 512;
  AscendC::TPipe* pipe_ = nullptr;
  const __gm__ GroupNormBackwardTilingData* tiling_ = nullptr;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> dyQueue_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> dxQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf_;
  AscendC::TBuf<AscendC::TPosition::VECOUT> keptBuf_;
  AscendC::LocalTensor<float> work_;
  AscendC::LocalTensor<float> plainSum_;
  AscendC::LocalTensor<float> spreadSum_;
  AscendC::LocalTensor<float> dgammaKept_;  // sums of rows or channels that wait to be copied out
  AscendC::LocalTensor<float> dbetaKept_;
  AscendC::GlobalTensor<float> dyGm_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> dxGm_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  AscendC::GlobalTensor<float> gammaGm_;
  AscendC::GlobalTensor<float> dgammaGm_;
  AscendC::GlobalTensor<float> dbetaGm_;
  Share groups_{0, 0};
  Share channels_{0, 0};
  uint32_t spatial_ = 0;
  uint32_t tileElements_ = 0;
};
