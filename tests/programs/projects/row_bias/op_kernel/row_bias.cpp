// RowBias, y = x + bias for each row of x: a kernel template, one instance for each choice of tiling_key_row_bias.h.
#include "kernel_operator.h"
#include "row_bias_tiling.h"
#include "tiling_key_row_bias.h"
using namespace AscendC;

template <typename T, bool kHasBias>
class KernelRowBias {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR bias, GM_ADDR y, const RowBiasTilingData& tiling) {
    inner = tiling.inner;
    first = GetBlockIdx() * tiling.split.rowsPerBlock;
    const uint32_t left = first < tiling.split.rows ? tiling.split.rows - first : 0;
    rows = left < tiling.split.rowsPerBlock ? left : tiling.split.rowsPerBlock;
    xGm.SetGlobalBuffer((__gm__ T*)x + first * inner, rows * inner);
    yGm.SetGlobalBuffer((__gm__ T*)y + first * inner, rows * inner);
    pipe.InitBuffer(inQueue, 2, tiling.padded * sizeof(T));
    pipe.InitBuffer(outQueue, 2, tiling.padded * sizeof(T));
    if constexpr (kHasBias) {
      biasGm.SetGlobalBuffer((__gm__ T*)bias, inner);
      pipe.InitBuffer(biasQueue, 1, tiling.padded * sizeof(T));
    }
  }
  __aicore__ inline void Process() {
    const DataCopyExtParams row{1, static_cast<uint32_t>(inner * sizeof(T)), 0, 0, 0};
    const DataCopyPadExtParams<T> pad{false, 0, 0, 0};
    LocalTensor<T> bias;
    if constexpr (kHasBias) {
      bias = biasQueue.AllocTensor<T>();
      DataCopyPad(bias, biasGm, row, pad);
      biasQueue.EnQue(bias);
      bias = biasQueue.DeQue<T>();
    }
    for (uint32_t at = 0; at < rows; ++at) {
      LocalTensor<T> x = inQueue.AllocTensor<T>();
      DataCopyPad(x, xGm[at * inner], row, pad);
      inQueue.EnQue(x);
      x = inQueue.DeQue<T>();
      LocalTensor<T> y = outQueue.AllocTensor<T>();
      if constexpr (kHasBias) {
        Add(y, x, bias, inner);
      } else {
        Adds(y, x, static_cast<T>(0), inner);
      }
      outQueue.EnQue(y);
      inQueue.FreeTensor(x);
      y = outQueue.DeQue<T>();
      DataCopyPad(yGm[at * inner], y, row);
      outQueue.FreeTensor(y);
    }
    if constexpr (kHasBias) {
      biasQueue.FreeTensor(bias);
    }
  }

 private:
  TPipe pipe;
  TQue<QuePosition::VECIN, 2> inQueue;
  TQue<QuePosition::VECOUT, 2> outQueue;
  TQue<QuePosition::VECIN, 1> biasQueue;
  GlobalTensor<T> xGm, biasGm, yGm;
  uint32_t inner, first, rows;
};

template <typename D_T, bool HAS_BIAS>
__global__ __aicore__ void row_bias(GM_ADDR x, GM_ADDR bias, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(RowBiasTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowBiasTilingData, data, tiling);
  KernelRowBias<D_T, HAS_BIAS> op;
  op.Init(x, bias, y, data);
  op.Process();
}
