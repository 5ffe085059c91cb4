// Groups of one element, for step 8: C/G = 1 and no spatial axis. The mean is x itself and the variance 0, so y is beta, except where x
// is infinite or not a number: then x - x is not a number, and with it y and rstd.
//
// Such groups lie side by side, and neighbours need nothing of each other: a tile is a run of elements of one sample, copied in one
// piece. The way of step 6 would give each element a block of its own, and each copy 4 bytes out of a line of 512.
#pragma once
#include "group_norm_core.h"
#include "../common/common_dtype.h"
#include "group_norm_epilogue.h"
#include "group_norm_tiling.h"
#include "kernel_operator.h"

template <class T, class Epilogue = GroupNormIdentity>
class GroupNormSingle {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                              GM_ADDR rstd, const __gm__ GroupNormTilingData* tiling) {
    channels_ = tiling->channels;
    sampleTiles_ = (channels_ + kTile - 1) / kTile;
    share_ = ShareOfCore(tiling);
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), tiling->totalGroups);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gamma), channels_);
    betaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(beta), channels_);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), tiling->totalGroups);
    meanGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(mean), tiling->totalGroups);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->totalGroups);
    pipe->InitBuffer(in_, 2, 3 * kTile * sizeof(T));       // x, gamma, beta
    pipe->InitBuffer(out_, 2, 3 * kTile * sizeof(float));  // mean, rstd, y
    pipe->InitBuffer(wide_, 2 * kTile * sizeof(float));    // gamma and beta as floats, and y
    pipe->InitBuffer(root_, 2 * kBlock * sizeof(float));
    rstd_ = ReciprocalRoot(pipe, tiling->eps);
  }

  __aicore__ inline void Process() {
    for (uint32_t tile = share_.first; tile < share_.last; ++tile) {
      const uint32_t channel = tile % sampleTiles_ * kTile;
      const uint32_t count = channels_ - channel < kTile ? channels_ - channel : kTile;
      const uint32_t at = tile / sampleTiles_ * channels_ + channel;
      CopyIn(at, channel, count);
      Compute(static_cast<int32_t>(count));
      CopyOut(at, count);
    }
  }

 private:
  __aicore__ inline float ReciprocalRoot(AscendC::TPipe* pipe, float value) {
    const AscendC::LocalTensor<float> one = root_.Get<float>();
    const AscendC::LocalTensor<float> root = one[kBlock];
    AscendC::Duplicate(one, 1.0f, kBlock);
    AscendC::Duplicate(root, value, kBlock);
    AscendC::Sqrt(root, root, kBlock);
    AscendC::Div(root, one, root, kBlock);
    SyncPipes<AscendC::HardEvent::V_S>(pipe);
    return root.GetValue(0);
  }

  __aicore__ inline void CopyIn(uint32_t at, uint32_t channel, uint32_t count) {
    AscendC::LocalTensor<T> in = in_.AllocTensor<T>();
    AscendC::DataCopyExtParams run{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<T> any{false, 0, 0, static_cast<T>(0.0f)};
    AscendC::DataCopyPad(in, xGm_[at], run, any);
    AscendC::DataCopyPad(in[kTile], gammaGm_[channel], run, any);
    AscendC::DataCopyPad(in[2 * kTile], betaGm_[channel], run, any);
    in_.EnQue(in);
  }

  // zero = x - x; rstd = zero + 1 / sqrt(eps); y = zero * gamma + beta.
  __aicore__ inline void Compute(int32_t n) {
    AscendC::LocalTensor<T> in = in_.DeQue<T>();
    AscendC::LocalTensor<float> mean = out_.AllocTensor<float>();
    const AscendC::LocalTensor<float> rstd = mean[kTile];
    const AscendC::LocalTensor<float> space = wide_.Get<float>();
    const AscendC::LocalTensor<float> x = Widen(mean, in, static_cast<uint32_t>(n));
    if constexpr (kIsFloat<T>) AscendC::Adds(mean, x, 0.0f, n);
    AscendC::Sub(rstd, x, x, n);
    const AscendC::LocalTensor<float> gamma = Widen(space, in[kTile], static_cast<uint32_t>(n));
    const AscendC::LocalTensor<float> beta = Widen(space[kTile], in[2 * kTile], static_cast<uint32_t>(n));
    AscendC::Mul(gamma, rstd, gamma, n);
    AscendC::Adds(rstd, rstd, rstd_, n);
    if constexpr (kIsFloat<T>) {
      AscendC::Add(mean[2 * kTile], gamma, beta, n);
      Epilogue::Apply(mean[2 * kTile], gamma, static_cast<uint32_t>(n));
    } else {
      AscendC::Add(beta, gamma, beta, n);
      Epilogue::Apply(beta, gamma, static_cast<uint32_t>(n));
      Narrow(mean[2 * kTile].ReinterpretCast<T>(), beta, static_cast<uint32_t>(n));
    }
    in_.FreeTensor(in);
    out_.EnQue(mean);
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<float> out = out_.DeQue<float>();
    AscendC::DataCopyExtParams floats{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyExtParams run{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPad(meanGm_[at], out, floats);
    AscendC::DataCopyPad(rstdGm_[at], out[kTile], floats);
    AscendC::DataCopyPad(yGm_[at], out[2 * kTile].ReinterpretCast<T>(), run);
    out_.FreeTensor(out);
  }

  static constexpr uint32_t kTile = kGroupNormSingleTile;
  static constexpr uint32_t kBlock = 8;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> in_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> out_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> root_;
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> yGm_;
  AscendC::GlobalTensor<T> gammaGm_;
  AscendC::GlobalTensor<T> betaGm_;
  AscendC::GlobalTensor<float> meanGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  GroupNormShare share_{0, 0};
  uint32_t channels_ = 0;
  uint32_t sampleTiles_ = 0;
  float rstd_ = 0.0f;
};
