// x - 2x / (n + 2), computed in one buffer a tile: what is read is widened to its end, and
// what is written is narrowed at its begin.
#include "kernel_operator.h"
#include "mish_tiling.h"

using namespace AscendC;

class KernelMish {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t length, uint32_t perBlock,
                              uint32_t tile) {
    const uint32_t first = GetBlockIdx() * perBlock;
    left_ = first < length ? length - first : 0;
    if (left_ > perBlock) left_ = perBlock;
    tile_ = tile;
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x + first);
    y_.SetGlobalBuffer((__gm__ DTYPE_X*)y + first);
    pipe_.InitBuffer(in_, 2, tile * sizeof(DTYPE_X));
    pipe_.InitBuffer(out_, 2, tile * sizeof(DTYPE_X));
    pipe_.InitBuffer(floats_, 2 * tile * sizeof(float));
  }

  __aicore__ inline void Process() {
    uint32_t at = 0;
    while (left_ > 0) {
      const uint32_t count = left_ < tile_ ? left_ : tile_;
      Tile(at, count);
      at += count;
      left_ -= count;
    }
  }

 private:
  __aicore__ inline void Tile(uint32_t at, uint32_t count) {
    const DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0,
                                0};
    LocalTensor<DTYPE_X> in = in_.AllocTensor<DTYPE_X>();
    DataCopyPad(in, x_[at], row, DataCopyPadExtParams<DTYPE_X>{false, 0, 0, 0});
    in_.EnQue(in);
    in = in_.DeQue<DTYPE_X>();
    LocalTensor<DTYPE_X> out = out_.AllocTensor<DTYPE_X>();
    LocalTensor<float> a = floats_.Get<float>();
    LocalTensor<float> b = a[tile_];
    Widen(a, in, count);
    in_.FreeTensor(in);
    Mins(b, a, 20.0f, count);
    Exp(b, b, count);
    Mul(a, a, b, count);  // x e
    Adds(b, b, 2.0f, count);
    Mul(a, a, b, count);  // x e (e + 2) = x n
    Adds(b, b, -1.0f, count);
    Mul(b, b, b, count);
    Adds(b, b, 1.0f, count);  // (e + 1)^2 + 1 = n + 2
    Narrow(out, a, b, count);
    out_.EnQue(out);
    out = out_.DeQue<DTYPE_X>();
    DataCopyPad(y_[at], out, row);
    out_.FreeTensor(out);
  }

  __aicore__ inline void Widen(const LocalTensor<float>& a,
                               const LocalTensor<float>& in, uint32_t count) {
    Muls(a, in, 1.0f, count);
  }

  template <typename T>
  __aicore__ inline void Widen(const LocalTensor<float>& a, const LocalTensor<T>& in,
                               uint32_t count) {
    Cast(a, in, RoundMode::CAST_NONE, count);
  }

  __aicore__ inline void Narrow(const LocalTensor<float>& out,
                                const LocalTensor<float>& a,
                                const LocalTensor<float>& b, uint32_t count) {
    Div(out, a, b, count);
  }

  template <typename T>
  __aicore__ inline void Narrow(const LocalTensor<T>& out, const LocalTensor<float>& a,
                                const LocalTensor<float>& b, uint32_t count) {
    Div(a, a, b, count);
    Cast(out, a, RoundMode::CAST_RINT, count);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> in_;
  TQue<QuePosition::VECOUT, 2> out_;
  TBuf<QuePosition::VECCALC> floats_;
  GlobalTensor<DTYPE_X> x_, y_;
  uint32_t left_, tile_;
};

extern "C" __global__ __aicore__ void mish(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                           GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(MishTilingData);
  GET_TILING_DATA_WITH_STRUCT(MishTilingData, tilingData, tiling);
  (void)workspace;
  KernelMish op;
  op.Init(x, y, tilingData.length, tilingData.perBlock, tilingData.tile);
  op.Process();
}
