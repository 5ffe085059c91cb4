// RMSNorm: each row of x divided by the root of the mean of its squares, y = x * rstd * gamma, rstd = 1 / sqrt(mean(x * x) + eps).
//
// GroupNorm without a mean, for the last axis: what a language model has before each layer. A row is what a core works on. It is read
// once if it fits into a tile, and otherwise twice: first for the sum, then for y. gamma stays in local memory if a row is one tile.
// No number goes through the scalar unit: sums, the root and the division are vector instructions on a block of eight floats, and a
// block stride of 0 multiplies a whole tile by it. So the scalar unit waits for nobody, and the next tile is on its way meanwhile.
// The timeline should show V as the busiest pipe, and the copies in its shadow. With rows of a few hundred elements the scalar unit is
// the slowest, because it issues some 25 instructions a row: many short lines at once, as GroupNorm has them from step 6 on, would be
// the next step.
#include "../common/common_dtype.h"
#include "rms_norm_tiling.h"

constexpr uint32_t kTile = 4096;  // elements: 64 sums of 64, so that two instructions add them all up
constexpr uint32_t kLanes = 64;   // floats of a repeat

template <class T>
class RmsNorm {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR y, GM_ADDR rstd,
                              const __gm__ RmsNormTilingData* tiling) {
    tiling_ = tiling;
    const uint64_t all = static_cast<uint64_t>(tiling->rows) * tiling->length;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), all);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), all);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gamma), tiling->length);
    rstdGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(rstd), tiling->rows);
    pipe->InitBuffer(xQueue_, 2, kTile * sizeof(T));
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

  // Starts the next of this core's copies in, if there is one.
  __aicore__ inline void Load() {
    if (loaded_ == loads_) return;
    const uint32_t row = first_ + static_cast<uint32_t>(loaded_ / LoadsOfRow());
    const uint32_t tile = static_cast<uint32_t>(loaded_ % LoadsOfRow()) % tiles_;
    AscendC::LocalTensor<T> x = xQueue_.template AllocTensor<T>();
    CopyIn(x, xGm_[static_cast<uint64_t>(row) * tiling_->length + static_cast<uint64_t>(tile) * kTile], LengthOf(tile));
    xQueue_.EnQue(x);
    ++loaded_;
  }

  __aicore__ inline void CopyIn(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from, uint32_t n) {
    AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0.0f)};
    AscendC::DataCopyPad(to, from, part, pad);
  }

  __aicore__ inline void Normalise(uint32_t row) {
    AscendC::Duplicate(sum_, 0.0f, 8);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::LocalTensor<T> x;
    for (uint32_t tile = 0; tile < tiles_; ++tile) {
      x = xQueue_.template DeQue<T>();
      if (tiles_ > 1) Load();
      AddSquares(Widen(wideX_, x, LengthOf(tile)), LengthOf(tile));
      if (tiles_ > 1) xQueue_.FreeTensor(x);
    }
    MakeScale(row);
    for (uint32_t tile = 0; tile < tiles_; ++tile) {
      if (tiles_ > 1) {
        x = xQueue_.template DeQue<T>();
        Widen(wideX_, x, LengthOf(tile));
        AscendC::PipeBarrier<PIPE_V>();
      }
      Load();
      Scale(x, row, tile);
      xQueue_.FreeTensor(x);
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
    AscendC::Muls(scale_, sum_, tiling_->inverseLength, 8);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(scale_, scale_, tiling_->eps, 8);
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
    AscendC::DataCopyExtParams part{1, sizeof(float), 0, 0, 0};
    AscendC::DataCopyPad(rstdGm_[row], rstd, part);
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
    AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPad(yGm_[static_cast<uint64_t>(row) * tiling_->length + static_cast<uint64_t>(tile) * kTile], y,
                         part);
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
  AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue_;  // two tiles may be on their way or in work
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
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> gammaGm_;
  AscendC::GlobalTensor<T> yGm_;
  AscendC::GlobalTensor<float> rstdGm_;
  uint64_t loads_ = 0;   // tiles that this core reads,
  uint64_t loaded_ = 0;  // and how many of them it has begun to
  uint32_t first_ = 0;   // its first row
  uint32_t tiles_ = 0;   // of a row
  bool gammaHeld_ = false;
};

extern "C" __global__ __aicore__ void rms_norm_kernel(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, GM_ADDR rstd,
                                                      GM_ADDR tiling) {
  const auto* numbers = reinterpret_cast<const __gm__ RmsNormTilingData*>(tiling);
  RunForDtype<RmsNorm>(numbers->tilingKey, x, gamma, y, rstd, numbers);
}
