// MulAddDst adds the squares of a piece to the lanes, and halving the lanes again and again
// leaves one sum: no ReduceSum, and no scalar unit until the row is done.
#include "kernel_operator.h"
#include "row_rms_tiling.h"

using namespace AscendC;

class KernelRowRms {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t length,
                              uint32_t rowsPerBlock, uint32_t chunk) {
    first_ = GetBlockIdx() * rowsPerBlock;
    end_ = first_ + rowsPerBlock < rows ? first_ + rowsPerBlock : rows;
    length_ = length;
    chunk_ = chunk;
    x_.SetGlobalBuffer((__gm__ half*)x);
    y_.SetGlobalBuffer((__gm__ half*)y);
    pipe_.InitBuffer(in_, 2, chunk * sizeof(half));
    pipe_.InitBuffer(out_, 2, 32);
    pipe_.InitBuffer(floats_, 2 * chunk * sizeof(float));
  }

  __aicore__ inline void Process() {
    for (uint32_t row = first_; row < end_; ++row) {
      LocalTensor<float> sums = floats_.Get<float>();
      Duplicate(sums, 0.0f, chunk_);
      for (uint32_t at = 0; at < length_; at += chunk_) {
        const uint32_t left = length_ - at;
        Piece(sums, static_cast<uint64_t>(row) * length_ + at,
              left < chunk_ ? left : chunk_);
      }
      // To whole repeats of 64 lanes: chunk_ is a multiple of 64, and what is beyond is 0.
      uint32_t lanes = chunk_ / 64;
      while (lanes > 1) {
        const uint32_t low = (lanes + 1) / 2, high = lanes - low;
        Add(sums, sums, sums[low * 64], high * 64);
        lanes = low;
      }
      WholeReduceSum(sums, sums, 64, 1, 1, 1, 8);
      Muls(sums, sums, 1.0f / static_cast<float>(length_), 1);
      Sqrt(sums, sums, 1);
      LocalTensor<half> y = out_.AllocTensor<half>();
      Cast(y, sums, RoundMode::CAST_RINT, 1);
      out_.EnQue(y);
      y = out_.DeQue<half>();
      DataCopyPad(y_[row], y, DataCopyExtParams{1, sizeof(half), 0, 0, 0});
      out_.FreeTensor(y);
    }
  }

 private:
  __aicore__ inline void Piece(const LocalTensor<float>& sums, uint64_t at,
                               uint32_t count) {
    LocalTensor<half> x = in_.AllocTensor<half>();
    const uint32_t bytes = count * sizeof(half);
    DataCopyPad(x, x_[at], DataCopyExtParams{1, bytes, 0, 0, 0},
                DataCopyPadExtParams<half>{false, 0, 0, 0});
    in_.EnQue(x);
    x = in_.DeQue<half>();
    LocalTensor<float> wide = floats_.Get<float>()[chunk_];
    Cast(wide, x, RoundMode::CAST_NONE, count);
    in_.FreeTensor(x);
    MulAddDst(sums, wide, wide, count);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> in_;
  TQue<QuePosition::VECOUT, 2> out_;
  TBuf<QuePosition::VECCALC> floats_;
  GlobalTensor<half> x_, y_;
  uint32_t first_, end_, length_, chunk_;
};

extern "C" __global__ __aicore__ void row_rms(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                              GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(RowRmsTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowRmsTilingData, tilingData, tiling);
  (void)workspace;
  KernelRowRms op;
  op.Init(x, y, tilingData.rows, tilingData.length, tilingData.rowsPerBlock,
          tilingData.chunk);
  op.Process();
}
