// The reciprocal of 1 + |x| + |y| is made first, and the difference is multiplied by it. One
// queue brings x and y together, in the two halves of its buffers.
#include "kernel_operator.h"
#include "rel_diff_tiling.h"

using namespace AscendC;

template <typename T>
struct KernelRelDiff {
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t length,
                             uint32_t row, uint32_t perBlock, uint32_t tile) {
    x_.SetGlobalBuffer((__gm__ T*)x, length);
    y_.SetGlobalBuffer((__gm__ T*)y, row);
    z_.SetGlobalBuffer((__gm__ T*)z, length);
    pipe_.InitBuffer(in_, 2, 2 * tile * sizeof(T));
    pipe_.InitBuffer(out_, 2, tile * sizeof(T));
    pipe_.InitBuffer(floats_, 3 * tile * sizeof(float));
    const uint32_t begin = GetBlockIdx() * perBlock;
    const uint32_t end = begin + perBlock < length ? begin + perBlock : length;
    uint32_t inRow = begin % row, now = 0;
    for (uint32_t at = begin; at < end; at += now) {
      now = row - inRow;
      if (now > tile) now = tile;
      if (now > end - at) now = end - at;
      Piece(at, inRow, now, tile);
      inRow = inRow + now == row ? 0 : inRow + now;
    }
  }

  __aicore__ inline void Piece(uint32_t at, uint32_t inRow, uint32_t now,
                               uint32_t tile) {
    const DataCopyExtParams row{1, static_cast<uint32_t>(now * sizeof(T)), 0, 0, 0};
    const DataCopyPadExtParams<T> plain{false, 0, 0, 0};
    LocalTensor<T> in = in_.template AllocTensor<T>();
    DataCopyPad(in, x_[at], row, plain);
    DataCopyPad(in[tile], y_[inRow], row, plain);
    in_.EnQue(in);
    in = in_.template DeQue<T>();
    LocalTensor<float> x = floats_.Get<float>();
    LocalTensor<float> y = x[tile], size = x[2 * tile];
    if constexpr (sizeof(T) == 2) {
      Cast(x, in, RoundMode::CAST_NONE, now);
      Cast(y, in[tile], RoundMode::CAST_NONE, now);
    } else {
      Muls(x, in, 1.0f, now);
      Muls(y, in[tile], 1.0f, now);
    }
    in_.FreeTensor(in);
    Sub(size, x, y, now);
    Abs(x, x, now);
    Abs(y, y, now);
    Add(y, y, x, now);
    Adds(y, y, 1.0f, now);
    Duplicate(x, 1.0f, now);
    Div(x, x, y, now);
    LocalTensor<T> out = out_.template AllocTensor<T>();
    if constexpr (sizeof(T) == 2) {
      Mul(size, size, x, now);
      Cast(out, size, RoundMode::CAST_RINT, now);
    } else {
      Mul(out, size, x, now);
    }
    out_.EnQue(out);
    out = out_.template DeQue<T>();
    DataCopyPad(z_[at], out, row);
    out_.FreeTensor(out);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> in_;
  TQue<QuePosition::VECOUT, 2> out_;
  TBuf<QuePosition::VECCALC> floats_;
  GlobalTensor<T> x_, y_, z_;
};

extern "C" __global__ __aicore__ void rel_diff(GM_ADDR x, GM_ADDR y, GM_ADDR z,
                                               GM_ADDR workspace, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(RelDiffTilingData);
  GET_TILING_DATA_WITH_STRUCT(RelDiffTilingData, tilingData, tiling);
  (void)workspace;
  KernelRelDiff<DTYPE_X> op;
  op.Run(x, y, z, tilingData.length, tilingData.row, tilingData.perBlock,
         tilingData.tile);
}
