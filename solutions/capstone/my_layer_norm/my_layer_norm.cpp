// LayerNorm: y = (x - m) / sqrt(v + eps) * gamma + beta for each row of x (rows,
// length); m is the row's mean, v the mean of (x - m)^2.
//
// A tile is as many rows as fit, and every instruction works on all of them. The
// squares are those of x - m, so that a row far from zero loses no digits. A row that
// is longer than a tile comes three times: for its mean, for its variance, and for its
// results. Half is cast to float on the way in, and back on the way out. gamma and beta
// stay in local memory as floats, where a row is one tile.
#include "rows.h"
#include "my_layer_norm_tiling.h"

constexpr uint32_t kTile = kMyLayerNormTile;
constexpr uint32_t kLastPass = 2;  // over a long row

template <class T>
class MyLayerNorm {
  using Floats = AscendC::LocalTensor<float>;

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe,
                              const __gm__ MyLayerNormTilingData* tiling, GM_ADDR x,
                              GM_ADDR gamma, GM_ADDR beta, GM_ADDR y) {
    tiling_ = tiling;
    const uint64_t all = static_cast<uint64_t>(tiling->rows) * tiling->length;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), all);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), all);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gamma), tiling->length);
    betaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(beta), tiling->length);
    pipe->InitBuffer(xQueue_, 2, kTile * sizeof(T));
    pipe->InitBuffer(yQueue_, 2, kTile * sizeof(T));
    pipe->InitBuffer(affineQueue_, 1, kTile * sizeof(T));
    pipe->InitBuffer(gammaBuf_, kTile * sizeof(float));
    pipe->InitBuffer(betaBuf_, kTile * sizeof(float));
    pipe->InitBuffer(workBuf_, 2 * kHalfWork * sizeof(float));
    pipe->InitBuffer(numberBuf_,
                     (2 * kMostRows + 8 * kMostRows + 64 + 8) * sizeof(float));
    work_ = workBuf_.Get<float>();
    gamma_ = gammaBuf_.Get<float>();
    beta_ = betaBuf_.Get<float>();
    numbers_ = numberBuf_.Get<float>();
    ones_ = numbers_[kMostRows];
    blocks_ = ones_[kMostRows];
    scales_ = blocks_[8 * kMostRows];
    whole_ = scales_[64];
    if constexpr (!kFloat) {
      pipe->InitBuffer(wideBuf_, kTile * sizeof(float));
      wide_ = wideBuf_.Get<float>();
      pipe->InitBuffer(squareBuf_, kTile * sizeof(float));
      square_ = squareBuf_.Get<float>();
    }
    AscendC::Duplicate(ones_, 1.0f, static_cast<int32_t>(kMostRows));
    AscendC::PipeBarrier<PIPE_V>();
  }

  __aicore__ inline void Process() {
    const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    const uint32_t rows = tiling_->rowsPerCore + (core < tiling_->extraRows ? 1 : 0);
    const uint32_t first = core * tiling_->rowsPerCore +
                           (core < tiling_->extraRows ? core : tiling_->extraRows);
    if (tiling_->tileRows == 0) return LongRows(first, rows);
    LoadAffine(gamma_, gammaGm_[0], {1, tiling_->length, tiling_->pitch});
    LoadAffine(beta_, betaGm_[0], {1, tiling_->length, tiling_->pitch});
    CopyIn(first, TileAt(0, rows));
    for (uint32_t row = 0; row < rows; row += tiling_->tileRows) {
      const uint32_t next = row + tiling_->tileRows;
      if (next < rows) CopyIn(first + next, TileAt(next, rows));
      Compute(TileAt(row, rows));
      CopyOut(static_cast<uint64_t>(first + row) * tiling_->length, TileAt(row, rows));
    }
  }

 private:
  static constexpr bool kFloat = sizeof(T) == sizeof(float);

  __aicore__ inline Rows TileAt(uint32_t row, uint32_t rows) {
    const uint32_t left = rows - row;
    return {left < tiling_->tileRows ? left : tiling_->tileRows, tiling_->length,
            tiling_->pitch};
  }

  __aicore__ inline void CopyIn(uint32_t row, const Rows& rows) {
    CopyInAt(static_cast<uint64_t>(row) * tiling_->length, rows);
  }

  __aicore__ inline void CopyInAt(uint64_t at, const Rows& rows) {
    AscendC::LocalTensor<T> x = xQueue_.template AllocTensor<T>();
    CopyRows(x, xGm_[at], rows);
    xQueue_.EnQue(x);
  }

  __aicore__ inline void CopyOut(uint64_t at, const Rows& rows) {
    AscendC::LocalTensor<T> y = yQueue_.template DeQue<T>();
    CopyRowsOut(yGm_[at], y, rows);
    yQueue_.FreeTensor(y);
  }

  // The next tile as floats; half is free for the next copy at once.
  __aicore__ inline Floats Take(uint32_t count) {
    x_ = xQueue_.template DeQue<T>();
    if constexpr (kFloat) {
      return x_;
    } else {
      AscendC::Cast(wide_, x_, AscendC::RoundMode::CAST_NONE, count);
      AscendC::PipeBarrier<PIPE_V>();
      return wide_;
    }
  }

  // Floats for results: of y itself, or those that become halves.
  __aicore__ inline Floats Place() {
    y_ = yQueue_.template AllocTensor<T>();
    if constexpr (kFloat) {
      return y_;
    } else {
      return wide_;
    }
  }

  __aicore__ inline void Give(const Floats& values, uint32_t count) {
    if constexpr (!kFloat) {
      AscendC::Cast(y_, values, AscendC::RoundMode::CAST_RINT, count);
      AscendC::PipeBarrier<PIPE_V>();
    }
    yQueue_.EnQue(y_);
  }

  // A part of gamma or beta as floats.
  __aicore__ inline void LoadAffine(const Floats& to,
                                    const AscendC::GlobalTensor<T>& from,
                                    const Rows& part) {
    AscendC::LocalTensor<T> values = affineQueue_.template AllocTensor<T>();
    CopyRows(values, from, part);
    affineQueue_.EnQue(values);
    values = affineQueue_.template DeQue<T>();
    if constexpr (kFloat) {
      AscendC::Adds(to, values, 0.0f, static_cast<int32_t>(part.pitch));
    } else {
      AscendC::Cast(to, values, AscendC::RoundMode::CAST_NONE, part.pitch);
    }
    AscendC::PipeBarrier<PIPE_V>();
    affineQueue_.FreeTensor(values);
  }

  __aicore__ inline void Compute(const Rows& rows) {
    const uint32_t count = rows.count * rows.pitch, whole = (rows.count + 7) / 8 * 8;
    const Floats x = Take(count), y = Place();
    const Rows padded = {rows.count, rows.pitch, rows.pitch};
    Reduce<Op::kAdd>(numbers_, x, work_, rows, 0.0f);
    AscendC::Muls(numbers_, numbers_, 1.0f / static_cast<float>(tiling_->length),
                  static_cast<int32_t>(whole));
    AscendC::PipeBarrier<PIPE_V>();
    Blocks(blocks_, numbers_, rows.count);
    WithNumbers<Op::kSub>(y, x, blocks_, padded);
    AscendC::PipeBarrier<PIPE_V>();
    const Floats square = kFloat ? x : square_;  // of half, x and y are one tile
    AscendC::Mul(square, y, y, static_cast<int32_t>(count));
    AscendC::PipeBarrier<PIPE_V>();
    Reduce<Op::kAdd>(numbers_, square, work_, rows, 0.0f);
    Scale(numbers_, whole);
    Blocks(blocks_, numbers_, rows.count);
    WithNumbers<Op::kMul>(y, y, blocks_, padded);
    AscendC::PipeBarrier<PIPE_V>();
    xQueue_.FreeTensor(x_);
    Affine(y, padded);
    Give(y, count);
  }

  // numbers = 1 / sqrt(numbers / length + eps). A division: Rsqrt has too few digits.
  __aicore__ inline void Scale(const Floats& numbers, uint32_t count) {
    const int32_t n = static_cast<int32_t>(count);
    const float eps = tiling_->eps;  // not from global memory
    AscendC::Muls(numbers, numbers, 1.0f / static_cast<float>(tiling_->length), n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(numbers, numbers, eps, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sqrt(numbers, numbers, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(numbers, ones_, numbers, n);
    AscendC::PipeBarrier<PIPE_V>();
  }

  __aicore__ inline void Affine(const Floats& y, const Rows& rows) {
    const uint32_t columns = rows.length / kLanes, rest = rows.length % kLanes;
    OnRows<Op::kMul>(y, rows.pitch, y, rows.pitch, gamma_, 0, rows.count, columns,
                     rest);
    AscendC::PipeBarrier<PIPE_V>();
    OnRows<Op::kAdd>(y, rows.pitch, y, rows.pitch, beta_, 0, rows.count, columns, rest);
    AscendC::PipeBarrier<PIPE_V>();
  }

  __aicore__ inline void LongRows(uint32_t first, uint32_t rows) {
    for (uint32_t row = first; row < first + rows; ++row) {
      const uint64_t start = static_cast<uint64_t>(row) * tiling_->length;
      for (uint32_t pass = 0; pass <= kLastPass; ++pass) {
        AscendC::Duplicate(whole_, 0.0f, 8);
        AscendC::PipeBarrier<PIPE_V>();
        CopyInAt(start, PartAt(0));
        for (uint32_t at = 0; at < tiling_->length; at += kTile) {
          if (at + kTile < tiling_->length)
            CopyInAt(start + at + kTile, PartAt(at + kTile));
          if (pass == kLastPass) {
            Results(at);
            CopyOut(start + at, PartAt(at));
          } else {
            Sum(pass, PartAt(at));
          }
        }
        AfterPass(pass);
      }
    }
  }

  __aicore__ inline Rows PartAt(uint32_t at) {
    const uint32_t left = tiling_->length - at, n = left < kTile ? left : kTile,
                   block = 32 / sizeof(T);
    return {1, n, (n + block - 1) / block * block};
  }

  // A part of a long row joins the sum of the pass, which is the first float of whole_.
  __aicore__ inline void Sum(uint32_t pass, const Rows& rows) {
    const Floats x = Take(rows.pitch);
    if (pass == 1) {
      WithNumbers<Op::kSub>(x, x, blocks_, {1, rows.pitch, rows.pitch});
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Mul(x, x, x, static_cast<int32_t>(rows.pitch));
      AscendC::PipeBarrier<PIPE_V>();
    }
    Reduce<Op::kAdd>(numbers_, x, work_, rows, 0.0f);
    xQueue_.FreeTensor(x_);
    AscendC::Add(whole_, whole_, numbers_, 8);
    AscendC::PipeBarrier<PIPE_V>();
  }

  __aicore__ inline void Results(uint32_t at) {
    const Rows part = PartAt(at), padded = {1, part.pitch, part.pitch};
    LoadAffine(gamma_, gammaGm_[at], part);
    LoadAffine(beta_, betaGm_[at], part);
    const Floats x = Take(part.pitch), y = Place();
    WithNumbers<Op::kSub>(y, x, blocks_, padded);
    AscendC::PipeBarrier<PIPE_V>();
    WithNumbers<Op::kMul>(y, y, scales_, padded);
    AscendC::PipeBarrier<PIPE_V>();
    xQueue_.FreeTensor(x_);
    Affine(y, padded);
    Give(y, part.pitch);
  }

  // blocks_ has the mean, scales_ the factor: eight equal floats.
  __aicore__ inline void AfterPass(uint32_t pass) {
    if (pass == kLastPass) return;
    if (pass == 0) {
      AscendC::Muls(whole_, whole_, 1.0f / static_cast<float>(tiling_->length), 8);
      AscendC::PipeBarrier<PIPE_V>();
      return Blocks(blocks_, whole_, 1);
    }
    Scale(whole_, 8);
    Blocks(scales_, whole_, 1);
  }

  const __gm__ MyLayerNormTilingData* tiling_ = nullptr;
  AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 2> yQueue_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> affineQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> squareBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> gammaBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> betaBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> numberBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> wideBuf_;
  AscendC::LocalTensor<T> x_;
  AscendC::LocalTensor<T> y_;
  Floats work_;
  Floats numbers_;  // one for each row
  Floats ones_;
  Floats blocks_;  // eight equal floats for each row
  Floats scales_;  // of a long row,
  Floats whole_;   // and its sum
  Floats square_;  // of half
  Floats gamma_;
  Floats beta_;
  Floats wide_;  // a tile of half as floats
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> yGm_;
  AscendC::GlobalTensor<T> gammaGm_;
  AscendC::GlobalTensor<T> betaGm_;
};

template <class T>
__aicore__ inline void Run(const __gm__ MyLayerNormTilingData* tiling, GM_ADDR x,
                           GM_ADDR gamma, GM_ADDR beta, GM_ADDR y) {
  AscendC::TPipe pipe;
  MyLayerNorm<T> op;
  op.Init(&pipe, tiling, x, gamma, beta, y);
  op.Process();
}

extern "C" __global__ __aicore__ void my_layer_norm_kernel(GM_ADDR x, GM_ADDR gamma,
                                                           GM_ADDR beta, GM_ADDR y,
                                                           GM_ADDR tiling) {
  const auto* numbers = reinterpret_cast<const __gm__ MyLayerNormTilingData*>(tiling);
  if (numbers->dtype == 0) Run<float>(numbers, x, gamma, beta, y);
  if (numbers->dtype == 1) Run<half>(numbers, x, gamma, beta, y);
}
