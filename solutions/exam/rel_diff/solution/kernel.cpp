// x is cut into equal parts; a piece of one ends where a row ends, so that y's piece is one
// stretch too.
#include "kernel_operator.h"
#include "rel_diff_tiling.h"

using namespace AscendC;

template <typename T>
class KernelRelDiff {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t length,
                              uint32_t row, uint32_t perBlock, uint32_t tile) {
    begin_ = GetBlockIdx() * perBlock;
    end_ = begin_ + perBlock < length ? begin_ + perBlock : length;
    row_ = row;
    tile_ = tile;
    xGm_.SetGlobalBuffer((__gm__ T*)x, length);
    yGm_.SetGlobalBuffer((__gm__ T*)y, row);
    zGm_.SetGlobalBuffer((__gm__ T*)z, length);
    pipe_.InitBuffer(xQueue_, 2, tile * sizeof(T));
    pipe_.InitBuffer(yQueue_, 2, tile * sizeof(T));
    pipe_.InitBuffer(zQueue_, 2, tile * sizeof(T));
    pipe_.InitBuffer(floats_, 3 * tile * sizeof(float));
  }

  __aicore__ inline void Process() {
    uint32_t at = begin_;
    while (at < end_) {
      const uint32_t inRow = at % row_;
      uint32_t now = end_ - at < tile_ ? end_ - at : tile_;
      if (row_ - inRow < now) now = row_ - inRow;
      CopyIn(at, inRow, now);
      Compute(now);
      CopyOut(at, now);
      at += now;
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t at, uint32_t inRow, uint32_t now) {
    const DataCopyExtParams row{1, static_cast<uint32_t>(now * sizeof(T)), 0, 0, 0};
    const DataCopyPadExtParams<T> unpadded{false, 0, 0, 0};
    LocalTensor<T> x = xQueue_.template AllocTensor<T>();
    DataCopyPad(x, xGm_[at], row, unpadded);
    xQueue_.EnQue(x);
    LocalTensor<T> y = yQueue_.template AllocTensor<T>();
    DataCopyPad(y, yGm_[inRow], row, unpadded);
    yQueue_.EnQue(y);
  }

  __aicore__ inline void Compute(uint32_t now) {
    LocalTensor<T> x = xQueue_.template DeQue<T>();
    LocalTensor<T> y = yQueue_.template DeQue<T>();
    LocalTensor<float> a = floats_.Get<float>();
    LocalTensor<float> b = a[tile_], c = a[2 * tile_];
    if constexpr (sizeof(T) == 4) {
      Adds(a, x, 0.0f, now);
      Adds(b, y, 0.0f, now);
    } else {
      Cast(a, x, RoundMode::CAST_NONE, now);
      Cast(b, y, RoundMode::CAST_NONE, now);
    }
    xQueue_.FreeTensor(x);
    yQueue_.FreeTensor(y);
    Sub(c, a, b, now);
    Abs(a, a, now);
    Abs(b, b, now);
    Add(a, a, b, now);
    Adds(a, a, 1.0f, now);
    LocalTensor<T> z = zQueue_.template AllocTensor<T>();
    if constexpr (sizeof(T) == 4) {
      Div(z, c, a, now);
    } else {
      Div(c, c, a, now);
      Cast(z, c, RoundMode::CAST_RINT, now);
    }
    zQueue_.EnQue(z);
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t now) {
    const DataCopyExtParams row{1, static_cast<uint32_t>(now * sizeof(T)), 0, 0, 0};
    LocalTensor<T> z = zQueue_.template DeQue<T>();
    DataCopyPad(zGm_[at], z, row);
    zQueue_.FreeTensor(z);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> xQueue_, yQueue_;
  TQue<QuePosition::VECOUT, 2> zQueue_;
  TBuf<QuePosition::VECCALC> floats_;
  GlobalTensor<T> xGm_, yGm_, zGm_;
  uint32_t begin_, end_, row_, tile_;
};

extern "C" __global__ __aicore__ void rel_diff(GM_ADDR x, GM_ADDR y, GM_ADDR z,
                                               GM_ADDR workspace, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(RelDiffTilingData);
  GET_TILING_DATA_WITH_STRUCT(RelDiffTilingData, tilingData, tiling);
  (void)workspace;
  KernelRelDiff<DTYPE_X> op;
  op.Init(x, y, z, tilingData.length, tilingData.row, tilingData.perBlock,
          tilingData.tile);
  op.Process();
}
