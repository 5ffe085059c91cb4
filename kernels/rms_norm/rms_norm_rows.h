// The rows of RMSNorm: a core takes its rows one after the other, from wherever its source has them, and writes y and rstd.
//
// A row is taken once if it fits into a tile, and otherwise twice: first for the sum of its squares, then for y.
#pragma once
#include "../common/common_dtype.h"
#include "rms_norm_tiling.h"

constexpr uint32_t kTile = 4096;  // elements: 64 sums of 64, so that two instructions add them all up
constexpr uint32_t kLanes = 64;   // floats of a repeat

// `n` elements into local memory, and out of it.
template <class T>
__aicore__ inline void CopyIn(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from, uint32_t n) {
  AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
  AscendC::DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0.0f)};
  AscendC::DataCopyPad(to, from, part, pad);
}

template <class T>
__aicore__ inline void CopyOut(const AscendC::GlobalTensor<T>& to, const AscendC::LocalTensor<T>& from, uint32_t n) {
  AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
  AscendC::DataCopyPad(to, from, part);
}

// Source says where the rows come from. Its Load starts the copies of n elements, of which the first is number `at`; its Take hands
// them out, in the order of the loads, and may compute in two tiles of floats; Free gets back what Take gave. `again`: of a row of
// several tiles that has been taken once already.
template <class T, class Source>
class RmsNormRows {
 public:
  // rows: what the source's Init takes.
  template <class... Rows>
  __aicore__ inline void Init(AscendC::TPipe* pipe, const __gm__ RmsNormTilingData* tiling, GM_ADDR gamma, GM_ADDR y,
                              GM_ADDR rstd, const Rows&... rows) {
    tiling_ = tiling;
    const uint64_t all = static_cast<uint64_t>(tiling->rows) * tiling->length;
    source_.Init(pipe, all, rows...);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), all);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gamma), tiling->length);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->rows);
    pipe->InitBuffer(gammaQueue_, 1, kTile * sizeof(T));
    pipe->InitBuffer(yQueue_, 2, kTile * sizeof(T));
    pipe->InitBuffer(rstdQueue_, 2, 32);
    pipe->InitBuffer(squareBuf_, kTile * sizeof(float));
    pipe->InitBuffer(sumBuf_, (kLanes + 4 * 8 + 64) * sizeof(float));
    square_ = squareBuf_.Get<float>();
    partial_ = sumBuf_.Get<float>();
    tileSum_ = partial_[kLanes];
    sum_ = tileSum_[8];
    one_ = sum_[8];
    scale_ = one_[8];
    scaleBlocks_ = scale_[8];
    if constexpr (!kIsFloat<T>) {
      pipe->InitBuffer(wideBuf_, 2 * kTile * sizeof(float));
      wideX_ = wideBuf_.Get<float>();
      wideGamma_ = wideX_[kTile];
    }
    AscendC::Duplicate(partial_, 0.0f, static_cast<int32_t>(kLanes));
    AscendC::Duplicate(tileSum_, 0.0f, 8);
    AscendC::Duplicate(one_, 1.0f, 8);
    AscendC::PipeBarrier<PIPE_V>();
  }

  __aicore__ inline void Process() {
    const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    const uint32_t rows = tiling_->rowsPerCore + (core < tiling_->extraRows ? 1 : 0);
    first_ = core * tiling_->rowsPerCore + (core < tiling_->extraRows ? core : tiling_->extraRows);
    tiles_ = (tiling_->length + kTile - 1) / kTile;
    loads_ = static_cast<uint64_t>(rows) * LoadsOfRow();
    Load();
    for (uint32_t row = 0; row < rows; ++row) {
      Normalise(first_ + row);
    }
    if (gammaHeld_) gammaQueue_.FreeTensor(gamma_);
  }

 private:
  // A row of one tile comes once, a longer one once for the sum and once for y.
  __aicore__ inline uint32_t LoadsOfRow() { return tiles_ == 1 ? 1 : 2 * tiles_; }

  __aicore__ inline uint32_t LengthOf(uint32_t tile) {
    const uint32_t left = tiling_->length - tile * kTile;
    return left < kTile ? left : kTile;
  }

  // Where a tile begins in x and y.
  __aicore__ inline uint64_t At(uint32_t row, uint32_t tile) {
    return static_cast<uint64_t>(row) * tiling_->length + static_cast<uint64_t>(tile) * kTile;
  }

  // Starts the next of this core's copies in, if there is one.
  __aicore__ inline void Load() {
    if (loaded_ == loads_) return;
    const uint32_t row = first_ + static_cast<uint32_t>(loaded_ / LoadsOfRow());
    const uint32_t turn = static_cast<uint32_t>(loaded_ % LoadsOfRow()), tile = turn % tiles_;
    source_.Load(At(row, tile), LengthOf(tile), turn >= tiles_);
    ++loaded_;
  }

  __aicore__ inline void Normalise(uint32_t row) {
    AscendC::Duplicate(sum_, 0.0f, 8);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::LocalTensor<T> x;
    for (uint32_t tile = 0; tile < tiles_; ++tile) {
      x = source_.Take(At(row, tile), LengthOf(tile), false, wideX_, square_);
      if (tiles_ > 1) Load();
      AddSquares(Widen(wideX_, x, LengthOf(tile)), LengthOf(tile));
      if (tiles_ > 1) source_.Free(x, false);
    }
    MakeScale(row);
    for (uint32_t tile = 0; tile < tiles_; ++tile) {
      if (tiles_ > 1) {
        x = source_.Take(At(row, tile), LengthOf(tile), true, wideX_, square_);
        Widen(wideX_, x, LengthOf(tile));
        AscendC::PipeBarrier<PIPE_V>();
      }
      Load();
      Scale(x, row, tile);
      source_.Free(x, tiles_ > 1);
    }
  }

  // sum += x[0]^2 + ... + x[n - 1]^2: 64 neighbours to one number, then these 64 numbers to one.
  __aicore__ inline void AddSquares(const AscendC::LocalTensor<float>& x, uint32_t n) {
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(square_, x, x, static_cast<int32_t>(n));
    AscendC::PipeBarrier<PIPE_V>();
    const uint32_t whole = n / kLanes, rest = n % kLanes;
    if (whole > 0) {
      AscendC::WholeReduceSum(partial_, square_, kLanes, static_cast<int32_t>(whole), 1, 1, 8);
    }
    if (rest > 0)
      AscendC::WholeReduceSum(partial_[whole], square_[whole * kLanes], static_cast<int32_t>(rest), 1, 1, 1, 8);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::WholeReduceSum(tileSum_, partial_, static_cast<int32_t>(whole + (rest > 0 ? 1 : 0)), 1, 1, 1, 8);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(sum_, sum_, tileSum_, 8);
    AscendC::PipeBarrier<PIPE_V>();
  }

  // scale = 1 / sqrt(sum / K + eps) in its first float, and eight of it in scaleBlocks_. A division, because the page of Rsqrt says
  // that it misses 2/10000.
  __aicore__ inline void MakeScale(uint32_t row) {
    // Local variables, because an instruction takes no number from global memory.
    const float inverseLength = tiling_->inverseLength, eps = tiling_->eps;
    AscendC::Muls(scale_, sum_, inverseLength, 8);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(scale_, scale_, eps, 8);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sqrt(scale_, scale_, 8);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(scale_, one_, scale_, 8);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Brcb(scaleBlocks_, scale_, 1, AscendC::BrcbRepeatParams(1, 8));
    AscendC::LocalTensor<float> rstd = rstdQueue_.template AllocTensor<float>();
    AscendC::Muls(rstd, scale_, 1.0f, 8);
    AscendC::PipeBarrier<PIPE_V>();
    rstdQueue_.EnQue(rstd);
    rstd = rstdQueue_.template DeQue<float>();
    CopyOut(rstdGm_[row], rstd, 1);
    rstdQueue_.FreeTensor(rstd);
  }

  __aicore__ inline void Scale(const AscendC::LocalTensor<T>& x, uint32_t row, uint32_t tile) {
    const uint32_t n = LengthOf(tile);
    const AscendC::LocalTensor<float> gamma = Gamma(tile, n);
    AscendC::LocalTensor<T> y = yQueue_.template AllocTensor<T>();
    if constexpr (kIsFloat<T>) {
      TimesScale(y, x, n);
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Mul(y, y, gamma, static_cast<int32_t>(n));
    } else {
      TimesScale(square_, wideX_, n);
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Mul(square_, square_, gamma, static_cast<int32_t>(n));
      AscendC::PipeBarrier<PIPE_V>();
      Narrow(y, square_, n);
    }
    AscendC::PipeBarrier<PIPE_V>();
    yQueue_.EnQue(y);
    if (!gammaHeld_) gammaQueue_.FreeTensor(gamma_);
    y = yQueue_.template DeQue<T>();
    CopyOut(yGm_[At(row, tile)], y, n);
    yQueue_.FreeTensor(y);
  }

  // The tile's part of gamma, as floats. If it is all of gamma, it stays.
  __aicore__ inline AscendC::LocalTensor<float> Gamma(uint32_t tile, uint32_t n) {
    if (gammaHeld_) return GammaFloats();
    AscendC::LocalTensor<T> gamma = gammaQueue_.template AllocTensor<T>();
    CopyIn(gamma, gammaGm_[static_cast<uint64_t>(tile) * kTile], n);
    gammaQueue_.EnQue(gamma);
    gamma_ = gammaQueue_.template DeQue<T>();
    gammaHeld_ = tiles_ == 1;
    Widen(wideGamma_, gamma_, n);
    AscendC::PipeBarrier<PIPE_V>();
    return GammaFloats();
  }

  __aicore__ inline AscendC::LocalTensor<float> GammaFloats() {
    if constexpr (kIsFloat<T>) {
      return gamma_;
    } else {
      return wideGamma_;
    }
  }

  // to = from * scale, with one block for all.
  __aicore__ inline void TimesScale(const AscendC::LocalTensor<float>& to, const AscendC::LocalTensor<float>& from,
                                    uint32_t n) {
    const AscendC::BinaryRepeatParams steps(1, 1, 0, 8, 8, 0);
    const uint32_t whole = n / kLanes, rest = n % kLanes, at = whole * kLanes;
    if (whole > 0) AscendC::Mul(to, from, scaleBlocks_, uint64_t{kLanes}, static_cast<uint8_t>(whole), steps);
    if (rest > 0) AscendC::Mul(to[at], from[at], scaleBlocks_, uint64_t{rest}, 1, steps);
  }

  const __gm__ RmsNormTilingData* tiling_ = nullptr;
  Source source_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> gammaQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> rstdQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> squareBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> wideBuf_;
  AscendC::LocalTensor<T> gamma_;
  AscendC::LocalTensor<float> square_;   // a tile of squares; of y, before it is narrowed
  AscendC::LocalTensor<float> partial_;  // 64 sums of 64 squares each
  AscendC::LocalTensor<float> tileSum_;  // blocks of eight floats, of which the first counts
  AscendC::LocalTensor<float> sum_;
  AscendC::LocalTensor<float> one_;
  AscendC::LocalTensor<float> scale_;
  AscendC::LocalTensor<float> scaleBlocks_;
  AscendC::LocalTensor<float> wideX_;
  AscendC::LocalTensor<float> wideGamma_;
  AscendC::GlobalTensor<T> gammaGm_;
  AscendC::GlobalTensor<T> yGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  uint64_t loads_ = 0;   // tiles that this core reads,
  uint64_t loaded_ = 0;  // and how many of them it has begun to
  uint32_t first_ = 0;   // its first row
  uint32_t tiles_ = 0;   // of a row
  bool gammaHeld_ = false;
};
