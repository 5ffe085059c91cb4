// ln(cosh x) = |x| + ln(1 + exp(-2|x|)) - ln 2: the exp is never above one. In float, since
// near zero the terms cancel.
#include "kernel_operator.h"
#include "log_cosh_tiling.h"

using namespace AscendC;

class KernelLogCosh {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t length, uint32_t perBlock,
                              uint32_t tile) {
    const uint32_t first = GetBlockIdx() * perBlock;
    mine_ =
        first >= length ? 0 : (length - first < perBlock ? length - first : perBlock);
    tile_ = tile;
    xGm_.SetGlobalBuffer((__gm__ half*)x + first, mine_);
    yGm_.SetGlobalBuffer((__gm__ half*)y + first, mine_);
    pipe_.InitBuffer(xQueue_, 2, tile * sizeof(half));
    pipe_.InitBuffer(yQueue_, 2, tile * sizeof(half));
    pipe_.InitBuffer(sizeBuffer_, tile * sizeof(float));
    pipe_.InitBuffer(expBuffer_, tile * sizeof(float));
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
    LocalTensor<half> x = xQueue_.AllocTensor<half>();
    const DataCopyExtParams row{1, static_cast<uint32_t>(now * sizeof(half)), 0, 0, 0};
    DataCopyPad(x, xGm_[at], row, DataCopyPadExtParams<half>{false, 0, 0, 0});
    xQueue_.EnQue(x);
  }

  __aicore__ inline void Compute(uint32_t now) {
    LocalTensor<half> x = xQueue_.DeQue<half>();
    LocalTensor<float> size = sizeBuffer_.Get<float>();
    LocalTensor<float> grown = expBuffer_.Get<float>();
    Cast(size, x, RoundMode::CAST_NONE, now);
    xQueue_.FreeTensor(x);
    Abs(size, size, now);
    Muls(grown, size, -2.0f, now);
    Exp(grown, grown, now);
    Adds(grown, grown, 1.0f, now);
    Ln(grown, grown, now);
    Add(size, size, grown, now);
    Adds(size, size, -0.69314718056f, now);
    LocalTensor<half> y = yQueue_.AllocTensor<half>();
    Cast(y, size, RoundMode::CAST_RINT, now);
    yQueue_.EnQue(y);
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t now) {
    LocalTensor<half> y = yQueue_.DeQue<half>();
    const DataCopyExtParams row{1, static_cast<uint32_t>(now * sizeof(half)), 0, 0, 0};
    DataCopyPad(yGm_[at], y, row);
    yQueue_.FreeTensor(y);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> xQueue_;
  TQue<QuePosition::VECOUT, 2> yQueue_;
  TBuf<QuePosition::VECCALC> sizeBuffer_, expBuffer_;
  GlobalTensor<half> xGm_, yGm_;
  uint32_t mine_, tile_;
};

extern "C" __global__ __aicore__ void log_cosh(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                               GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(LogCoshTilingData);
  GET_TILING_DATA_WITH_STRUCT(LogCoshTilingData, tilingData, tiling);
  (void)workspace;
  KernelLogCosh op;
  op.Init(x, y, tilingData.length, tilingData.perBlock, tilingData.tile);
  op.Process();
}
