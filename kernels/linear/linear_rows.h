// The class of the kernels of Linear's gradients; dy may pass through a formula on its way in. How it works: linear_backward.cpp.
#pragma once
#include "linear_epilogue.h"
#include "linear_parts.h"
#include "linear_tiling.h"

constexpr uint32_t kColumns = kLinearBackwardColumns;
constexpr uint32_t kTerms = kLinearBackwardTerms;

// C[i][n] = sum over j of A(i, j) B[j][n]. A is dy or its transpose, and is in memory as `width` numbers a row.
template <class T>
struct LinearProduct {
  AscendC::GlobalTensor<T> b;
  AscendC::GlobalTensor<T> c;
  uint32_t results;  // rows of C
  uint32_t terms;    // rows of B
  bool transposed;   // A(i, j) is dy[j][i], and not dy[i][j]
  bool wanted;       // otherwise only the sums of A are
};

// Slope: what becomes of dy first (linear_epilogue.h).
template <class T, class Slope>
class LinearBackward {
 public:
  // rest: what the slope takes.
  template <class... Rest>
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dy, GM_ADDR x, GM_ADDR weight, GM_ADDR dx, GM_ADDR dweight,
                              GM_ADDR dbias, const __gm__ LinearBackwardTilingData* tiling, const Rest&... rest) {
    tiling_ = tiling;
    const uint64_t r = tiling->rows, k = tiling->inFeatures, o = tiling->outFeatures;
    dyGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dy), r * o);
    toX_.b.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(weight), o * k);
    toX_.c.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dx), r * k);
    toX_.results = tiling->rows;
    toX_.terms = tiling->outFeatures;
    toX_.transposed = false;
    toX_.wanted = true;
    toWeight_.b.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), r * k);
    toWeight_.c.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dweight), o * k);
    toWeight_.results = tiling->outFeatures;
    toWeight_.terms = tiling->rows;
    toWeight_.transposed = true;
    toWeight_.wanted = (tiling->mask & kLinearWantWeight) != 0 && k > 0;
    biasGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(dbias), o);
    constexpr uint32_t kFactors = kLinearBackwardRows * kTerms;
    pipe->InitBuffer(factorQueue_, 2, kFactors * sizeof(T));
    pipe->InitBuffer(rowQueue_, 2, kTerms * kColumns * sizeof(T));
    pipe->InitBuffer(resultQueue_, 2, kLinearBackwardRows * kColumns * sizeof(T));
    pipe->InitBuffer(biasQueue_, 1, kLinearBackwardRows * sizeof(T));
    pipe->InitBuffer(blockBuf_, kFactors * 32);
    pipe->InitBuffer(sumBuf_, (2 * kLinearBackwardRows * kColumns + kLinearBackwardRows) * sizeof(float));
    blocks_ = blockBuf_.Get<float>();
    total_ = sumBuf_.Get<float>();
    part_ = total_[kLinearBackwardRows * kColumns];
    biasSum_ = part_[kLinearBackwardRows * kColumns];
    if constexpr (!kIsFloat<T>) {
      pipe->InitBuffer(wideBuf_, (kFactors + kTerms * kColumns) * sizeof(float));
      wideFactors_ = wideBuf_.Get<float>();
      wideRows_ = wideFactors_[kFactors];
    }
    slope_.Init(pipe, tiling, rest...);
  }

  __aicore__ inline void Process() {
    const uint32_t units = tiling_->dxUnits + tiling_->weightUnits;
    // In turn, so that every core gets its part of either kind: a unit of dx takes O terms, one of dW takes R.
    for (uint32_t unit = static_cast<uint32_t>(AscendC::GetBlockIdx()); unit < units; unit += tiling_->usedCores) {
      if (unit < tiling_->dxUnits) {
        Run(toX_, unit / tiling_->dxBlocks, unit % tiling_->dxBlocks, false);
      } else {
        const uint32_t mine = unit - tiling_->dxUnits;
        const uint32_t column = mine % tiling_->weightBlocks;
        Run(toWeight_, mine / tiling_->weightBlocks, column, column == 0 && (tiling_->mask & kLinearWantBias) != 0);
      }
    }
  }

 private:
  // One tile of C; with `sums`, the sums of A over j, too, which are db.
  __aicore__ inline void Run(const LinearProduct<T>& product, uint32_t row, uint32_t column, bool sums) {
    first_ = row * tiling_->tileRows;
    column_ = column * kColumns;
    count_ = product.results - first_ < tiling_->tileRows ? product.results - first_ : tiling_->tileRows;
    const uint32_t left = tiling_->inFeatures - column_;
    columns_ = left < kColumns ? left : kColumns;
    AscendC::Duplicate(total_, 0.0f, static_cast<int32_t>(count_ * kColumns));
    AscendC::Duplicate(biasSum_, 0.0f, static_cast<int32_t>(kLinearBackwardRows));
    AscendC::PipeBarrier<PIPE_V>();
    for (uint32_t at = 0; at < product.terms; at += kTerms) {
      const uint32_t terms = product.terms - at < kTerms ? product.terms - at : kTerms;
      CopyFactors(product.transposed, at, terms);
      if (product.wanted) CopyRows(product.b, at, terms);
      AscendC::LocalTensor<T> factors = factorQueue_.template DeQue<T>();
      const uint32_t pitch = PitchOf<T>(product.transposed ? count_ : terms);
      const uint32_t all = (product.transposed ? terms : count_) * pitch;
      const AscendC::LocalTensor<float> wide = Widen(wideFactors_, factors, all);
      slope_.Apply(wide, all);
      AscendC::PipeBarrier<PIPE_V>();
      if (product.wanted) AddRows(wide, all, terms, product.transposed ? 1 : pitch, product.transposed ? pitch : 1);
      if (sums) AddFactors(wide, terms, pitch);
      factorQueue_.FreeTensor(factors);
    }
    if (product.wanted) CopyResult(product.c);
    if (sums) CopySums();
  }

  // dy[first .. first + count][at .. at + terms], or the same with the axes exchanged.
  __aicore__ inline void CopyFactors(bool transposed, uint32_t at, uint32_t terms) {
    AscendC::LocalTensor<T> factors = factorQueue_.template AllocTensor<T>();
    const uint64_t o = tiling_->outFeatures, place = transposed ? at * o + first_ : first_ * o + at;
    const uint32_t count = transposed ? terms : count_, length = transposed ? count_ : terms;
    CopyTileIn(factors, dyGm_, place, count, length, tiling_->outFeatures);
    factorQueue_.EnQue(factors);
    slope_.CopyIn(place, count, length);
  }

  __aicore__ inline void CopyRows(const AscendC::GlobalTensor<T>& from, uint32_t at, uint32_t terms) {
    AscendC::LocalTensor<T> rows = rowQueue_.template AllocTensor<T>();
    const uint64_t place = static_cast<uint64_t>(at) * tiling_->inFeatures + column_;
    CopyTileIn(rows, from, place, terms, columns_, tiling_->inFeatures);
    rowQueue_.EnQue(rows);
  }

  // total[i] += sum over j of A(i, j) rows[j]. A(i, j) is number i * stepI + j * stepJ of `all` factors.
  __aicore__ inline void AddRows(const AscendC::LocalTensor<float>& factors, uint32_t all, uint32_t terms,
                                 uint32_t stepI, uint32_t stepJ) {
    AscendC::LocalTensor<T> rows = rowQueue_.template DeQue<T>();
    const uint32_t pitch = PitchOf<T>(columns_);
    const AscendC::LocalTensor<float> wide = Widen(wideRows_, rows, terms * pitch);
    AscendC::Brcb(blocks_, factors, static_cast<uint8_t>(all / 8), AscendC::BrcbRepeatParams(1, 8));
    AscendC::Duplicate(part_, 0.0f, static_cast<int32_t>(count_ * kColumns));
    AscendC::PipeBarrier<PIPE_V>();
    const AscendC::BinaryRepeatParams steps(1, 1, 0, kColumns / 8, 0, static_cast<uint8_t>(stepI));
    for (uint32_t term = 0; term < terms; ++term) {
      for (uint32_t at = 0; at < columns_; at += 64) {
        const uint64_t mask = columns_ - at < 64 ? columns_ - at : 64;
        AscendC::MulAddDst(part_[at], wide[term * pitch + at], blocks_[term * stepJ * 8], mask,
                           static_cast<uint8_t>(count_), steps);
      }
      AscendC::PipeBarrier<PIPE_V>();
    }
    AscendC::Add(total_, total_, part_, static_cast<int32_t>(count_ * kColumns));
    AscendC::PipeBarrier<PIPE_V>();
    rowQueue_.FreeTensor(rows);
  }

  // biasSum[i] += sum over j of factors[j][i]: the lower half of the rows is added to the upper one until a single row is left.
  __aicore__ inline void AddFactors(const AscendC::LocalTensor<float>& factors, uint32_t terms, uint32_t pitch) {
    for (uint32_t left = terms; left > 1;) {
      const uint32_t upper = (left + 1) / 2;
      AscendC::Add(factors, factors, factors[upper * pitch], static_cast<int32_t>((left - upper) * pitch));
      AscendC::PipeBarrier<PIPE_V>();
      left = upper;
    }
    AscendC::Add(biasSum_, biasSum_, factors, static_cast<int32_t>(count_));
    AscendC::PipeBarrier<PIPE_V>();
  }

  __aicore__ inline void CopyResult(const AscendC::GlobalTensor<T>& to) {
    AscendC::LocalTensor<T> result = resultQueue_.template AllocTensor<T>();
    RoundOnce(result, total_, count_ * kColumns);
    AscendC::PipeBarrier<PIPE_V>();
    resultQueue_.EnQue(result);
    result = resultQueue_.template DeQue<T>();
    const uint64_t at = static_cast<uint64_t>(first_) * tiling_->inFeatures + column_;
    CopyTileOut(to, at, result, count_, columns_, tiling_->inFeatures, kColumns);
    resultQueue_.FreeTensor(result);
  }

  __aicore__ inline void CopySums() {
    AscendC::LocalTensor<T> sums = biasQueue_.template AllocTensor<T>();
    RoundOnce(sums, biasSum_, count_);
    AscendC::PipeBarrier<PIPE_V>();
    biasQueue_.EnQue(sums);
    sums = biasQueue_.template DeQue<T>();
    CopyTileOut(biasGm_, first_, sums, 1, count_, count_, PitchOf<T>(count_));
    biasQueue_.FreeTensor(sums);
  }

  const __gm__ LinearBackwardTilingData* tiling_ = nullptr;
  Slope slope_;
  LinearProduct<T> toX_;
  LinearProduct<T> toWeight_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> factorQueue_;  // numbers of dy
  AscendC::TQue<AscendC::TPosition::VECIN, 1> rowQueue_;     // rows of W or x
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> resultQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> biasQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> blockBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> wideBuf_;
  AscendC::LocalTensor<float> blocks_;  // a block of eight equal numbers for each number of dy
  AscendC::LocalTensor<float> total_;   // the tile of C
  AscendC::LocalTensor<float> part_;    // what kTerms terms add to it
  AscendC::LocalTensor<float> biasSum_;
  AscendC::LocalTensor<float> wideFactors_;
  AscendC::LocalTensor<float> wideRows_;
  AscendC::GlobalTensor<T> dyGm_;
  AscendC::GlobalTensor<T> biasGm_;
  uint32_t first_ = 0;  // the tile: first row and column, and how many of each
  uint32_t column_ = 0;
  uint32_t count_ = 0;
  uint32_t columns_ = 0;
};

template <class Formula>
struct LinearBackwardWith {
  template <class T>
  using Kernel = LinearBackward<T, LinearSlope<T, Formula>>;
};

template <class T>
using LinearBackwardAlone = LinearBackward<T, NoSlope>;
