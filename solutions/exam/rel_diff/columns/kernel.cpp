// A block has a rectangle of rows and columns. y's piece is read once, widened, and meets all
// of its rows: each piece of y comes in once a block.
#include "kernel_operator.h"
#include "rel_diff_tiling.h"

using namespace AscendC;

constexpr uint32_t kTile = 4096;

__aicore__ inline void Widen(const LocalTensor<float>& to,
                             const LocalTensor<float>& from, uint32_t count) {
  Muls(to, from, 1.0f, count);
}

__aicore__ inline void Widen(const LocalTensor<float>& to,
                             const LocalTensor<half>& from, uint32_t count) {
  Cast(to, from, RoundMode::CAST_NONE, count);
}

__aicore__ inline void Narrow(const LocalTensor<float>& to,
                              const LocalTensor<float>& from, uint32_t count) {
  Muls(to, from, 1.0f, count);
}

__aicore__ inline void Narrow(const LocalTensor<half>& to,
                              const LocalTensor<float>& from, uint32_t count) {
  Cast(to, from, RoundMode::CAST_RINT, count);
}

class KernelRelDiff {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t rows,
                              uint32_t row, uint32_t rowBlocks, uint32_t rowsOfBlock,
                              uint32_t columns) {
    const uint32_t down = GetBlockIdx() % rowBlocks, across = GetBlockIdx() / rowBlocks;
    firstRow_ = down * rowsOfBlock;
    endRow_ = firstRow_ + rowsOfBlock < rows ? firstRow_ + rowsOfBlock : rows;
    firstColumn_ = across * columns;
    endColumn_ = firstColumn_ + columns < row ? firstColumn_ + columns : row;
    row_ = row;
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x);
    y_.SetGlobalBuffer((__gm__ DTYPE_X*)y);
    z_.SetGlobalBuffer((__gm__ DTYPE_X*)z);
    pipe_.InitBuffer(in_, 2, kTile * sizeof(DTYPE_X));
    pipe_.InitBuffer(out_, 2, kTile * sizeof(DTYPE_X));
    pipe_.InitBuffer(floats_, 4 * kTile * sizeof(float));
  }

  __aicore__ inline void Process() {
    for (uint32_t at = firstColumn_; at < endColumn_; at += kTile) {
      const uint32_t count = endColumn_ - at < kTile ? endColumn_ - at : kTile;
      LocalTensor<float> y = floats_.Get<float>();
      LocalTensor<float> more = y[kTile];
      Read(y, y_, at, count);
      Abs(more, y, count);
      Adds(more, more, 1.0f, count);
      for (uint32_t row = firstRow_; row < endRow_; ++row) {
        OneRow(y, more, static_cast<uint64_t>(row) * row_ + at, count);
      }
    }
  }

 private:
  __aicore__ inline void Read(const LocalTensor<float>& to, GlobalTensor<DTYPE_X>& from,
                              uint64_t at, uint32_t count) {
    LocalTensor<DTYPE_X> in = in_.AllocTensor<DTYPE_X>();
    const uint32_t bytes = count * sizeof(DTYPE_X);
    DataCopyPad(in, from[at], DataCopyExtParams{1, bytes, 0, 0, 0},
                DataCopyPadExtParams<DTYPE_X>{false, 0, 0, 0});
    in_.EnQue(in);
    in = in_.DeQue<DTYPE_X>();
    Widen(to, in, count);
    in_.FreeTensor(in);
  }

  __aicore__ inline void OneRow(const LocalTensor<float>& y,
                                const LocalTensor<float>& more, uint64_t at,
                                uint32_t count) {
    LocalTensor<float> x = floats_.Get<float>()[2 * kTile];
    LocalTensor<float> size = floats_.Get<float>()[3 * kTile];
    Read(x, x_, at, count);
    Abs(size, x, count);
    Add(size, size, more, count);
    Sub(x, x, y, count);
    Div(x, x, size, count);
    LocalTensor<DTYPE_X> out = out_.AllocTensor<DTYPE_X>();
    Narrow(out, x, count);
    out_.EnQue(out);
    out = out_.DeQue<DTYPE_X>();
    const uint32_t bytes = count * sizeof(DTYPE_X);
    DataCopyPad(z_[at], out, DataCopyExtParams{1, bytes, 0, 0, 0});
    out_.FreeTensor(out);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> in_;
  TQue<QuePosition::VECOUT, 2> out_;
  TBuf<QuePosition::VECCALC> floats_;
  GlobalTensor<DTYPE_X> x_, y_, z_;
  uint32_t firstRow_, endRow_, firstColumn_, endColumn_, row_;
};

extern "C" __global__ __aicore__ void rel_diff(GM_ADDR x, GM_ADDR y, GM_ADDR z,
                                               GM_ADDR workspace, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(RelDiffTilingData);
  GET_TILING_DATA_WITH_STRUCT(RelDiffTilingData, tilingData, tiling);
  (void)workspace;
  KernelRelDiff op;
  op.Init(x, y, z, tilingData.rows, tilingData.row, tilingData.rowBlocks,
          tilingData.rowsOfBlock, tilingData.columnsOfBlock);
  op.Process();
}
