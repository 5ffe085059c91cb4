// Row softmax: y = exp(x - m) / sum(exp(x - m)) for each row of x (rows, length); m is
// the row's maximum.
//
// A tile is as many rows as fit, and every instruction works on all of them. A row that
// is longer than a tile comes three times: for its maximum, for its sum, and for its
// results. Half is cast to float on the way in, and back on the way out.
#include "rows.h"
#include "my_softmax_tiling.h"

constexpr uint32_t kTile = kMySoftmaxTile;
constexpr float kLowest = -3.4e38f;

template <class T>
class MySoftmax {
  using Floats = AscendC::LocalTensor<float>;

 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe,
                              const __gm__ MySoftmaxTilingData* tiling, GM_ADDR x,
                              GM_ADDR y) {
    tiling_ = tiling;
    const uint64_t all = static_cast<uint64_t>(tiling->rows) * tiling->length;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), all);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), all);
    pipe->InitBuffer(xQueue_, 2, kTile * sizeof(T));
    pipe->InitBuffer(yQueue_, 2, kTile * sizeof(T));
    pipe->InitBuffer(workBuf_, 2 * kHalfWork * sizeof(float));
    pipe->InitBuffer(numberBuf_,
                     (2 * kMostRows + 8 * kMostRows + 64 + 16) * sizeof(float));
    work_ = workBuf_.Get<float>();
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

  __aicore__ inline void Compute(const Rows& rows) {
    const uint32_t count = rows.count * rows.pitch;
    const Floats x = Take(count), y = Place();
    const Rows padded = {rows.count, rows.pitch, rows.pitch};
    Reduce<Op::kMax>(numbers_, x, work_, rows, kLowest);
    Blocks(blocks_, numbers_, rows.count);
    WithNumbers<Op::kSub>(y, x, blocks_, padded);
    AscendC::PipeBarrier<PIPE_V>();
    xQueue_.FreeTensor(x_);
    AscendC::Exp(y, y, static_cast<int32_t>(count));
    AscendC::PipeBarrier<PIPE_V>();
    Reduce<Op::kAdd>(numbers_, y, work_, rows, 0.0f);
    Inverse((rows.count + 7) / 8 * 8);
    WithNumbers<Op::kMul>(y, y, blocks_, padded);
    AscendC::PipeBarrier<PIPE_V>();
    Give(y, count);
  }

  // Blocks of 1 / number. A division: Reciprocal has too few digits.
  __aicore__ inline void Inverse(uint32_t count) {
    AscendC::Div(numbers_, ones_, numbers_, static_cast<int32_t>(count));
    AscendC::PipeBarrier<PIPE_V>();
    Blocks(blocks_, numbers_, count);
  }

  __aicore__ inline void LongRows(uint32_t first, uint32_t rows) {
    for (uint32_t row = first; row < first + rows; ++row) {
      const uint64_t start = static_cast<uint64_t>(row) * tiling_->length;
      AscendC::Duplicate(whole_, kLowest, 8);
      AscendC::Duplicate(whole_[8], 0.0f, 8);
      AscendC::PipeBarrier<PIPE_V>();
      for (uint32_t pass = 0; pass < 3; ++pass) {
        CopyInAt(start, PartAt(0));
        for (uint32_t at = 0; at < tiling_->length; at += kTile) {
          if (at + kTile < tiling_->length)
            CopyInAt(start + at + kTile, PartAt(at + kTile));
          Part(pass, PartAt(at));
          if (pass == 2) CopyOut(start + at, PartAt(at));
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

  // A part of a long row: what the pass makes of it. whole_ has the maximum so far in
  // its first float, the sum in its ninth.
  __aicore__ inline void Part(uint32_t pass, const Rows& rows) {
    const Floats x = Take(rows.pitch), y = pass == 2 ? Place() : x;
    const Rows padded = {1, rows.pitch, rows.pitch};
    if (pass == 0) {
      Reduce<Op::kMax>(numbers_, x, work_, rows, kLowest);
      AscendC::Max(whole_, whole_, numbers_, 8);
    } else {
      WithNumbers<Op::kSub>(y, x, blocks_, padded);
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Exp(y, y, static_cast<int32_t>(rows.pitch));
      AscendC::PipeBarrier<PIPE_V>();
      if (pass == 1) {
        Reduce<Op::kAdd>(numbers_, y, work_, rows, 0.0f);
        AscendC::Add(whole_[8], whole_[8], numbers_, 8);
      } else {
        WithNumbers<Op::kMul>(y, y, scales_, padded);
      }
    }
    AscendC::PipeBarrier<PIPE_V>();
    xQueue_.FreeTensor(x_);
    if (pass == 2) Give(y, rows.pitch);
  }

  // blocks_ has the maximum, scales_ one over the sum: eight equal floats.
  __aicore__ inline void AfterPass(uint32_t pass) {
    if (pass == 0) Blocks(blocks_, whole_, 1);
    if (pass != 1) return;
    AscendC::Div(numbers_, ones_, whole_[8], 8);
    AscendC::PipeBarrier<PIPE_V>();
    Blocks(scales_, numbers_, 1);
  }

  const __gm__ MySoftmaxTilingData* tiling_ = nullptr;
  AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 2> yQueue_;
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
  Floats whole_;   // its maximum and its sum
  Floats wide_;    // a tile of half as floats
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> yGm_;
};

template <class T>
__aicore__ inline void Run(const __gm__ MySoftmaxTilingData* tiling, GM_ADDR x,
                           GM_ADDR y) {
  AscendC::TPipe pipe;
  MySoftmax<T> op;
  op.Init(&pipe, tiling, x, y);
  op.Process();
}

extern "C" __global__ __aicore__ void my_softmax_kernel(GM_ADDR x, GM_ADDR y,
                                                        GM_ADDR tiling) {
  const auto* numbers = reinterpret_cast<const __gm__ MySoftmaxTilingData*>(tiling);
  if (numbers->dtype == 0) Run<float>(numbers, x, y);
  if (numbers->dtype == 1) Run<half>(numbers, x, y);
}
