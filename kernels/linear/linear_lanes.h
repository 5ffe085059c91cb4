// The class of Linear's kernels: units of y, whose sums may pass through a formula before they leave. How it works: linear.cpp.
#pragma once
#include "linear_epilogue.h"
#include "linear_parts.h"
#include "linear_tiling.h"

constexpr uint32_t kLanes = 64;  // floats of a repeat

// Epilogue: what becomes of the sums (linear_epilogue.h).
template <class T, class Epilogue>
class Linear {
 public:
  // rest: what the epilogue takes.
  template <class... Rest>
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR weight, GM_ADDR bias, GM_ADDR y,
                              const __gm__ LinearTilingData* tiling, const Rest&... rest) {
    tiling_ = tiling;
    const uint64_t r = tiling->rows, k = tiling->inFeatures, o = tiling->outFeatures;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), r * k);
    weightGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(weight), o * k);
    biasGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(bias), o);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), r * o);
    const uint32_t elements = tiling->rowTile * tiling->outTile;
    pipe->InitBuffer(xQueue_, 2, tiling->rowTile * kLinearColumns * sizeof(T));
    pipe->InitBuffer(weightQueue_, 2, tiling->outTile * kLinearColumns * sizeof(T));
    pipe->InitBuffer(biasQueue_, 1, tiling->outTile * sizeof(T));
    pipe->InitBuffer(yQueue_, 2, elements * sizeof(T));
    pipe->InitBuffer(laneBuf_, elements * kLanes * sizeof(float));
    pipe->InitBuffer(sumBuf_, (elements + tiling->outTile) * sizeof(float));
    lanes_ = laneBuf_.Get<float>();
    sums_ = sumBuf_.Get<float>();
    wideBias_ = sums_[elements];
    if constexpr (!kIsFloat<T>) {
      pipe->InitBuffer(wideBuf_, (tiling->rowTile + tiling->outTile) * kLinearColumns * sizeof(float));
      wideX_ = wideBuf_.Get<float>();
      wideWeight_ = wideX_[tiling->rowTile * kLinearColumns];
    }
    epilogue_.Init(pipe, tiling, rest...);
    // A formula takes whole rows of the unit, also where y ends within them.
    if constexpr (Epilogue::kThere) AscendC::Duplicate(sums_, 0.0f, static_cast<int32_t>(elements));
  }

  __aicore__ inline void Process() {
    const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    const uint32_t longer = core < tiling_->extraUnits ? core : tiling_->extraUnits;
    const uint32_t first = core * tiling_->unitsPerCore + longer;
    const uint32_t count = tiling_->unitsPerCore + (core < tiling_->extraUnits ? 1 : 0);
    for (uint32_t unit = first; unit < first + count; ++unit) {
      row_ = unit / tiling_->outBlocks * tiling_->rowTile;
      out_ = unit % tiling_->outBlocks * tiling_->outTile;
      rows_ = tiling_->rows - row_ < tiling_->rowTile ? tiling_->rows - row_ : tiling_->rowTile;
      outs_ = tiling_->outFeatures - out_ < tiling_->outTile ? tiling_->outFeatures - out_ : tiling_->outTile;
      AscendC::Duplicate(lanes_, 0.0f, static_cast<int32_t>(rows_ * tiling_->outTile * kLanes));
      AscendC::PipeBarrier<PIPE_V>();
      for (uint32_t at = 0; at < tiling_->inFeatures; at += kLinearColumns) {
        const uint32_t left = tiling_->inFeatures - at;
        const uint32_t columns = left < kLinearColumns ? left : kLinearColumns;
        CopyIn(at, columns);
        Multiply(columns);
      }
      AddUp();
      CopyOut();
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t at, uint32_t columns) {
    const uint64_t k = tiling_->inFeatures;
    AscendC::LocalTensor<T> x = xQueue_.template AllocTensor<T>();
    CopyTileIn(x, xGm_, row_ * k + at, rows_, columns, tiling_->inFeatures);
    xQueue_.EnQue(x);
    AscendC::LocalTensor<T> weight = weightQueue_.template AllocTensor<T>();
    CopyTileIn(weight, weightGm_, out_ * k + at, outs_, columns, tiling_->inFeatures);
    weightQueue_.EnQue(weight);
  }

  // lanes[row][out][lane] += x[row][column] * weight[out][column], for every column that has this lane.
  __aicore__ inline void Multiply(uint32_t columns) {
    AscendC::LocalTensor<T> x = xQueue_.template DeQue<T>();
    AscendC::LocalTensor<T> weight = weightQueue_.template DeQue<T>();
    const uint32_t pitch = PitchOf<T>(columns);
    const AscendC::LocalTensor<float> a = Widen(wideX_, x, rows_ * pitch);
    const AscendC::LocalTensor<float> b = Widen(wideWeight_, weight, outs_ * pitch);
    AscendC::PipeBarrier<PIPE_V>();
    const AscendC::BinaryRepeatParams steps(1, 1, 1, kLanes / 8, static_cast<uint8_t>(pitch / 8), 0);
    for (uint32_t at = 0; at < columns; at += kLanes) {
      const uint64_t mask = columns - at < kLanes ? columns - at : kLanes;
      for (uint32_t row = 0; row < rows_; ++row) {
        AscendC::MulAddDst(lanes_[row * tiling_->outTile * kLanes], b[at], a[row * pitch + at], mask,
                           static_cast<uint8_t>(outs_), steps);
      }
      AscendC::PipeBarrier<PIPE_V>();
    }
    xQueue_.FreeTensor(x);
    weightQueue_.FreeTensor(weight);
  }

  // y = the sum of the 64 lanes, and the bias.
  __aicore__ inline void AddUp() {
    AscendC::LocalTensor<T> bias = biasQueue_.template AllocTensor<T>();
    CopyTileIn(bias, biasGm_, out_, 1, outs_, outs_);
    biasQueue_.EnQue(bias);
    const uint32_t pitch = tiling_->outTile;
    for (uint32_t row = 0; row < rows_; ++row) {
      AscendC::WholeReduceSum(sums_[row * pitch], lanes_[row * pitch * kLanes], kLanes, static_cast<int32_t>(outs_), 1,
                              1, kLanes / 8);
    }
    bias = biasQueue_.template DeQue<T>();
    const AscendC::LocalTensor<float> wide = Widen(wideBias_, bias, outs_);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::LocalTensor<T> y = yQueue_.template AllocTensor<T>();
    const uint8_t step = static_cast<uint8_t>(pitch / 8);
    const AscendC::BinaryRepeatParams steps(1, 1, 1, step, step, 0);
    if constexpr (kIsFloat<T> && !Epilogue::kThere) {
      AscendC::Add(y, sums_, wide, outs_, static_cast<uint8_t>(rows_), steps);
    } else {
      AscendC::Add(sums_, sums_, wide, outs_, static_cast<uint8_t>(rows_), steps);
      AscendC::PipeBarrier<PIPE_V>();
      if constexpr (Epilogue::kThere) {
        epilogue_.Apply(y, sums_, rows_ * pitch);
      } else {
        for (uint32_t row = 0; row < rows_; ++row) Narrow(y[row * pitch], sums_[row * pitch], outs_);
      }
    }
    AscendC::PipeBarrier<PIPE_V>();
    yQueue_.EnQue(y);
    biasQueue_.FreeTensor(bias);
  }

  __aicore__ inline void CopyOut() {
    AscendC::LocalTensor<T> y = yQueue_.template DeQue<T>();
    const uint64_t at = static_cast<uint64_t>(row_) * tiling_->outFeatures + out_;
    if (epilogue_.WantsResult()) CopyTileOut(yGm_, at, y, rows_, outs_, tiling_->outFeatures, tiling_->outTile);
    yQueue_.FreeTensor(y);
    epilogue_.CopyOut(at, rows_, outs_);
  }

  const __gm__ LinearTilingData* tiling_ = nullptr;
  Epilogue epilogue_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> weightQueue_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> biasQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> laneBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> wideBuf_;
  AscendC::LocalTensor<float> lanes_;  // [rowTile][outTile][64]
  AscendC::LocalTensor<float> sums_;   // [rowTile][outTile]
  AscendC::LocalTensor<float> wideBias_;
  AscendC::LocalTensor<float> wideX_;
  AscendC::LocalTensor<float> wideWeight_;
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> weightGm_;
  AscendC::GlobalTensor<T> biasGm_;
  AscendC::GlobalTensor<T> yGm_;
  uint32_t row_ = 0;  // the unit: first row, first output feature, and how many of each
  uint32_t out_ = 0;
  uint32_t rows_ = 0;
  uint32_t outs_ = 0;
};

template <class Formula>
struct LinearWith {
  template <class T>
  using Kernel = Linear<T, LinearEpilogue<T, Formula>>;
};

template <class T>
using LinearAlone = Linear<T, NoEpilogue>;
