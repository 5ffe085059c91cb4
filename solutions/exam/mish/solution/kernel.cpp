// x n / (n + 2), n = e (e + 2), e = exp(min(x, 20)): from 20 on the quotient is one in float.
#include "kernel_operator.h"
#include "mish_tiling.h"

using namespace AscendC;

template <typename T>
class KernelMish {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t length, uint32_t perBlock,
                              uint32_t tile) {
    const uint32_t first = GetBlockIdx() * perBlock;
    mine_ =
        first >= length ? 0 : (length - first < perBlock ? length - first : perBlock);
    tile_ = tile;
    xGm_.SetGlobalBuffer((__gm__ T*)x + first, mine_);
    yGm_.SetGlobalBuffer((__gm__ T*)y + first, mine_);
    pipe_.InitBuffer(xQueue_, 2, tile * sizeof(T));
    pipe_.InitBuffer(yQueue_, 2, tile * sizeof(T));
    pipe_.InitBuffer(wideBuffer_, tile * sizeof(float));
    pipe_.InitBuffer(grownBuffer_, tile * sizeof(float));
  }

  __aicore__ inline void Process() {
    for (uint32_t at = 0; at < mine_; at += tile_) {
      const uint32_t now = mine_ - at < tile_ ? mine_ - at : tile_;
      CopyIn(at, now);
      Compute(now);
      CopyOut(at, now);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t at, uint32_t now) {
    LocalTensor<T> x = xQueue_.AllocTensor<T>();
    const DataCopyExtParams row{1, static_cast<uint32_t>(now * sizeof(T)), 0, 0, 0};
    DataCopyPad(x, xGm_[at], row, DataCopyPadExtParams<T>{false, 0, 0, 0});
    xQueue_.EnQue(x);
  }

  __aicore__ inline void Compute(uint32_t now) {
    LocalTensor<T> x = xQueue_.DeQue<T>();
    LocalTensor<float> wide = wideBuffer_.Get<float>(),
                       grown = grownBuffer_.Get<float>();
    if constexpr (IsSameType<T, float>::value) {
      Adds(wide, x, 0.0f, now);
    } else {
      Cast(wide, x, RoundMode::CAST_NONE, now);
    }
    xQueue_.FreeTensor(x);
    Mins(grown, wide, 20.0f, now);
    Exp(grown, grown, now);
    MulByQuotient(wide, grown, now);
    LocalTensor<T> y = yQueue_.AllocTensor<T>();
    if constexpr (IsSameType<T, float>::value) {
      Adds(y, wide, 0.0f, now);
    } else {
      Cast(y, wide, RoundMode::CAST_RINT, now);
    }
    yQueue_.EnQue(y);
  }

  // wide = x n / (n + 2)
  __aicore__ inline void MulByQuotient(LocalTensor<float> wide,
                                       LocalTensor<float> grown, uint32_t now) {
    LocalTensor<float> more = grown;
    Mul(wide, wide, grown, now);
    Adds(more, grown, 2.0f, now);
    Mul(wide, wide, more, now);
    // (e + 2) e + 2 = (e + 2 - 1)^2 + 1
    Adds(more, more, -1.0f, now);
    Mul(more, more, more, now);
    Adds(more, more, 1.0f, now);
    Div(wide, wide, more, now);
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t now) {
    LocalTensor<T> y = yQueue_.DeQue<T>();
    const DataCopyExtParams row{1, static_cast<uint32_t>(now * sizeof(T)), 0, 0, 0};
    DataCopyPad(yGm_[at], y, row);
    yQueue_.FreeTensor(y);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> xQueue_;
  TQue<QuePosition::VECOUT, 2> yQueue_;
  TBuf<QuePosition::VECCALC> wideBuffer_, grownBuffer_;
  GlobalTensor<T> xGm_, yGm_;
  uint32_t mine_, tile_;
};

extern "C" __global__ __aicore__ void mish(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                           GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(MishTilingData);
  GET_TILING_DATA_WITH_STRUCT(MishTilingData, tilingData, tiling);
  (void)workspace;
  KernelMish<DTYPE_X> op;
  op.Init(x, y, tilingData.length, tilingData.perBlock, tilingData.tile);
  op.Process();
}
