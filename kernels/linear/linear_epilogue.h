// What the classes of Linear's kernels take as a parameter: a formula (common_elements.h) of the sums before they are stored, and the
// slope of it before the gradients are added up; or nothing.
//
// Both work on a tile that is in local memory anyway. A tile is short, so that a formula pays for the start of each of its instructions
// far more often than where it has a launch of its own; what it saves is that launch and the way through memory.
#pragma once
#include "../common/common_elements.h"
#include "linear_parts.h"
#include "linear_tiling.h"

// y leaves as it is.
struct NoEpilogue {
  static constexpr bool kThere = false;

  __aicore__ inline void Init(AscendC::TPipe*, const __gm__ LinearTilingData*) {}
  __aicore__ inline bool WantsResult() const { return true; }
  __aicore__ inline void CopyOut(uint64_t, uint32_t, uint32_t) {}
};

// y = f(h), h = x W^T + b. h is a float with all its digits where f takes it, and rounded to T only where it is saved.
template <class T, class Formula>
class LinearEpilogue {
 public:
  static constexpr bool kThere = true;

  // saved: where h goes, (R, O). wanted: kLinearWantResult, kLinearWantSaved, or both.
  __aicore__ inline void Init(AscendC::TPipe* pipe, const __gm__ LinearTilingData* tiling, GM_ADDR saved,
                              uint32_t wanted) {
    tiling_ = tiling;
    wanted_ = wanted;
    savedGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(saved),
                             static_cast<uint64_t>(tiling->rows) * tiling->outFeatures);
    const uint32_t elements = tiling->rowTile * tiling->outTile;
    pipe->InitBuffer(savedQueue_, 2, elements * sizeof(T));
    pipe->InitBuffer(scratchBuf_, Formula::kScratch * (elements + kElementsGap) * sizeof(float));
    for (uint32_t i = 0; i < Formula::kScratch; ++i) {
      scratch_[i] = scratchBuf_.Get<float>()[i * (elements + kElementsGap)];
    }
  }

  __aicore__ inline bool WantsResult() const { return (wanted_ & kLinearWantResult) != 0; }

  // y = f(h) for n numbers; h is not there any more afterwards.
  __aicore__ inline void Apply(const AscendC::LocalTensor<T>& y, const Floats& h, uint32_t n) {
    if ((wanted_ & kLinearWantSaved) != 0) {
      AscendC::LocalTensor<T> saved = savedQueue_.template AllocTensor<T>();
      RoundOnce(saved, h, n);
      savedQueue_.EnQue(saved);
    }
    if (!WantsResult()) return;
    if constexpr (kIsFloat<T>) {
      Formula::Apply(&y, &h, scratch_, static_cast<int32_t>(n));
    } else {
      Formula::Apply(&h, &h, scratch_, static_cast<int32_t>(n));
      AscendC::PipeBarrier<PIPE_V>();
      Narrow(y, h, n);
    }
  }

  // at: the first element of the tile in global memory.
  __aicore__ inline void CopyOut(uint64_t at, uint32_t rows, uint32_t outs) {
    if ((wanted_ & kLinearWantSaved) == 0) return;
    AscendC::LocalTensor<T> saved = savedQueue_.template DeQue<T>();
    CopyTileOut(savedGm_, at, saved, rows, outs, tiling_->outFeatures, tiling_->outTile);
    savedQueue_.FreeTensor(saved);
  }

 private:
  const __gm__ LinearTilingData* tiling_ = nullptr;
  uint32_t wanted_ = 0;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> savedQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> scratchBuf_;
  Floats scratch_[Formula::kScratch];
  AscendC::GlobalTensor<T> savedGm_;
};

// dy comes as it is.
struct NoSlope {
  __aicore__ inline void Init(AscendC::TPipe*, const __gm__ LinearBackwardTilingData*) {}
  __aicore__ inline void CopyIn(uint64_t, uint32_t, uint32_t) {}
  __aicore__ inline void Apply(const Floats&, uint32_t) {}
};

// dh = dy f'(h), for a tile of dy whenever one comes. Formula: of dy and h.
template <class T, class Formula>
class LinearSlope {
 public:
  // saved: h, (R, O).
  __aicore__ inline void Init(AscendC::TPipe* pipe, const __gm__ LinearBackwardTilingData* tiling, GM_ADDR saved) {
    width_ = tiling->outFeatures;
    savedGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(saved), static_cast<uint64_t>(tiling->rows) * width_);
    pipe->InitBuffer(savedQueue_, 2, kMost * sizeof(T));
    pipe->InitBuffer(floatBuf_, (Formula::kScratch + (kIsFloat<T> ? 0 : 1)) * kSlot * sizeof(float));
    for (uint32_t i = 0; i < Formula::kScratch; ++i) scratch_[i] = floatBuf_.Get<float>()[i * kSlot];
    if constexpr (!kIsFloat<T>) wide_ = floatBuf_.Get<float>()[Formula::kScratch * kSlot];
  }

  // The tile of h that belongs to one of dy. at: its first element in global memory.
  __aicore__ inline void CopyIn(uint64_t at, uint32_t count, uint32_t length) {
    AscendC::LocalTensor<T> saved = savedQueue_.template AllocTensor<T>();
    CopyTileIn(saved, savedGm_, at, count, length, width_);
    savedQueue_.EnQue(saved);
  }

  // n numbers of dy become numbers of dh.
  __aicore__ inline void Apply(const Floats& dy, uint32_t n) {
    AscendC::LocalTensor<T> saved = savedQueue_.template DeQue<T>();
    const Floats in[2] = {dy, Widen(wide_, saved, n)};
    AscendC::PipeBarrier<PIPE_V>();
    Formula::Apply(&dy, in, scratch_, static_cast<int32_t>(n));
    savedQueue_.FreeTensor(saved);
  }

 private:
  static constexpr uint32_t kMost = kLinearBackwardRows * kLinearBackwardTerms;
  static constexpr uint32_t kSlot = kMost + kElementsGap;

  uint32_t width_ = 0;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> savedQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> floatBuf_;
  Floats scratch_[Formula::kScratch];
  Floats wide_;
  AscendC::GlobalTensor<T> savedGm_;
};
