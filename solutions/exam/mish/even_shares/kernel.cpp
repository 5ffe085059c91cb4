// With u = exp(-|x|) nothing is above one: the quotient is (1 + 2u) / (1 + 2u + 2u^2) for x of
// zero and more, (u^2 + 2u) / (u^2 + 2u + 2) below. Select takes one of the two.
#include "kernel_operator.h"
#include "mish_tiling.h"

using namespace AscendC;

constexpr uint32_t kTile = 2048;

template <typename T>
class KernelMish {
 public:
  __aicore__ inline KernelMish(GM_ADDR x, GM_ADDR y, uint32_t length,
                               uint32_t perBlock) {
    x_.SetGlobalBuffer((__gm__ T*)x, length);
    y_.SetGlobalBuffer((__gm__ T*)y, length);
    begin_ = GetBlockIdx() * perBlock;
    end_ = begin_ + perBlock < length ? begin_ + perBlock : length;
    pipe_.InitBuffer(in_, 2, kTile * sizeof(T));
    pipe_.InitBuffer(out_, 2, kTile * sizeof(T));
    pipe_.InitBuffer(floats_, 4 * kTile * sizeof(float));
    pipe_.InitBuffer(mask_, kTile / 8);
  }

  __aicore__ inline void Process() {
    for (uint32_t at = begin_; at < end_; at += kTile) {
      Tile(at, end_ - at < kTile ? end_ - at : kTile);
    }
  }

 private:
  __aicore__ inline void Tile(uint32_t at, uint32_t count) {
    const uint32_t bytes = count * sizeof(T);
    LocalTensor<T> in = in_.AllocTensor<T>();
    DataCopyPad(in, x_[at], DataCopyExtParams{1, bytes, 0, 0, 0},
                DataCopyPadExtParams<T>{false, 0, 0, 0});
    in_.EnQue(in);
    in = in_.DeQue<T>();
    LocalTensor<float> x = floats_.Get<float>();
    if constexpr (sizeof(T) == 4) {
      DataCopy(x, in, (count + 7) / 8 * 8);
    } else {
      Cast(x, in, RoundMode::CAST_NONE, count);
    }
    in_.FreeTensor(in);
    Factor(x, count);
    LocalTensor<T> out = out_.AllocTensor<T>();
    if constexpr (sizeof(T) == 4) {
      Mul(out, x, x[kTile], count);
    } else {
      Mul(x, x, x[kTile], count);
      Cast(out, x, RoundMode::CAST_RINT, count);
    }
    out_.EnQue(out);
    out = out_.DeQue<T>();
    DataCopyPad(y_[at], out, DataCopyExtParams{1, bytes, 0, 0, 0});
    out_.FreeTensor(out);
  }

  // The quotient, into the second quarter of the floats.
  __aicore__ inline void Factor(const LocalTensor<float>& x, uint32_t count) {
    LocalTensor<float> u = x[kTile], above = x[2 * kTile], below = x[3 * kTile];
    LocalTensor<uint8_t> positive = mask_.Get<uint8_t>();
    const uint32_t whole = (count + 63) / 64 * 64;
    CompareScalar(positive, x, 0.0f, CMPMODE::GE, whole);
    Abs(u, x, count);
    Muls(u, u, -1.0f, count);
    Exp(u, u, count);
    Muls(below, u, 2.0f, count);
    Mul(u, u, u, count);
    Adds(above, below, 1.0f, count);  // 1 + 2u
    Add(below, below, u, count);      // u^2 + 2u
    Select(below, positive, above, below, SELMODE::VSEL_TENSOR_TENSOR_MODE, count);
    Muls(above, u, 2.0f, count);  // what is added: 2u^2, or 2
    Duplicate(u, 2.0f, count);
    Select(above, positive, above, u, SELMODE::VSEL_TENSOR_TENSOR_MODE, count);
    Add(above, above, below, count);
    Div(u, below, above, count);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> in_;
  TQue<QuePosition::VECOUT, 2> out_;
  TBuf<QuePosition::VECCALC> floats_, mask_;
  GlobalTensor<T> x_, y_;
  uint32_t begin_, end_;
};

extern "C" __global__ __aicore__ void mish(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                           GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(MishTilingData);
  GET_TILING_DATA_WITH_STRUCT(MishTilingData, tilingData, tiling);
  (void)workspace;
  KernelMish<DTYPE_X> op(x, y, tilingData.length, tilingData.perBlock);
  op.Process();
}
