// RMSNorm: y = x / sqrt(mean(x * x) + eps) * gamma for each row of x (rows, length).
//
// A tile is as many rows as fit, and every instruction works on all of them. A row that
// is longer than a tile comes twice: for the sum of its squares, and for its results.
// Half is cast to float on the way in, and back on the way out. gamma stays in local
// memory as floats, where a row is one tile.
#include "rows.h"
#include "my_rms_norm_tiling.h"

constexpr uint32_t kTile = kMyRmsNormTile;
constexpr uint32_t kLastPass = 1;  // over a long row

template <class T>
class MyRmsNorm {
  using Floats = AscendC::LocalTensor<float>;

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe,
                              const __gm__ MyRmsNormTilingData* tiling, GM_ADDR x,
                              GM_ADDR gamma, GM_ADDR y) {
    tiling_ = tiling;
    const uint64_t all = static_cast<uint64_t>(tiling->rows) * tiling->length;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), all);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), all);
    gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gamma), tiling->length);
    pipe->InitBuffer(xQueue_, 2, kTile * sizeof(T));
    pipe->InitBuffer(yQueue_, 2, kTile * sizeof(T));
    pipe->InitBuffer(affineQueue_, 1, kTile * sizeof(T));
    pipe->InitBuffer(squareBuf_, kTile * sizeof(float));
    pipe->InitBuffer(gammaBuf_, kTile * sizeof(float));
    pipe->InitBuffer(workBuf_, 2 * kHalfWork * sizeof(float));
    pipe->InitBuffer(numberBuf_,
                     (2 * kMostRows + 8 * kMostRows + 64 + 8) * sizeof(float));
    work_ = workBuf_.Get<float>();
    square_ = squareBuf_.Get<float>();
    gamma_ = gammaBuf_.Get<float>();
    numbers_ = numberBuf_.Get<float>();
    ones_ = numbers_[kMostRows];
    blocks_ = ones_[kMostRows];
    scales_ = blocks_[8 * kMostRows];
    whole_ = scales_[64];
    if constexpr (!kFloat) {
      pipe->InitBuffer(wideBuf_, kTile * sizeof(float));
      wide_ = wideBuf_.Get<float>();
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

  // A part of gamma as floats.
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
    AscendC::Mul(square_, x, x, static_cast<int32_t>(count));
    AscendC::PipeBarrier<PIPE_V>();
    Reduce<Op::kAdd>(numbers_, square_, work_, rows, 0.0f);
    Scale(numbers_, whole);
    Blocks(blocks_, numbers_, rows.count);
    WithNumbers<Op::kMul>(y, x, blocks_, padded);
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
  __aicore__ inline void Sum(uint32_t /*pass*/, const Rows& rows) {
    const Floats x = Take(rows.pitch);
    AscendC::Mul(square_, x, x, static_cast<int32_t>(rows.pitch));
    AscendC::PipeBarrier<PIPE_V>();
    xQueue_.FreeTensor(x_);
    Reduce<Op::kAdd>(numbers_, square_, work_, rows, 0.0f);
    AscendC::Add(whole_, whole_, numbers_, 8);
    AscendC::PipeBarrier<PIPE_V>();
  }

  __aicore__ inline void Results(uint32_t at) {
    const Rows part = PartAt(at), padded = {1, part.pitch, part.pitch};
    LoadAffine(gamma_, gammaGm_[at], part);
    const Floats x = Take(part.pitch), y = Place();
    WithNumbers<Op::kMul>(y, x, scales_, padded);
    AscendC::PipeBarrier<PIPE_V>();
    xQueue_.FreeTensor(x_);
    Affine(y, padded);
    Give(y, part.pitch);
  }

  // scales_ has the factor: eight equal floats.
  __aicore__ inline void AfterPass(uint32_t pass) {
    if (pass == kLastPass) return;
    Scale(whole_, 8);
    Blocks(scales_, whole_, 1);
  }

  const __gm__ MyRmsNormTilingData* tiling_ = nullptr;
  AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 2> yQueue_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> affineQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> squareBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> gammaBuf_;
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
  Floats square_;
  Floats gamma_;
  Floats wide_;  // a tile of half as floats
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> yGm_;
  AscendC::GlobalTensor<T> gammaGm_;
};

template <class T>
__aicore__ inline void Run(const __gm__ MyRmsNormTilingData* tiling, GM_ADDR x,
                           GM_ADDR gamma, GM_ADDR y) {
  AscendC::TPipe pipe;
  MyRmsNorm<T> op;
  op.Init(&pipe, tiling, x, gamma, y);
  op.Process();
}

extern "C" __global__ __aicore__ void my_rms_norm_kernel(GM_ADDR x, GM_ADDR gamma,
                                                         GM_ADDR y, GM_ADDR tiling) {
  const auto* numbers = reinterpret_cast<const __gm__ MyRmsNormTilingData*>(tiling);
  if (numbers->dtype == 0) Run<float>(numbers, x, gamma, y);
  if (numbers->dtype == 1) Run<half>(numbers, x, gamma, y);
}
