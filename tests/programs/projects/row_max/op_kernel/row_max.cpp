// RowMax: each block some rows, one after the other. Two tiling keys: rows of 64 elements and more, and shorter ones.
#include "kernel_operator.h"
using namespace AscendC;

class KernelRowMax {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const RowMaxTilingData& tiling) {
    inner = tiling.inner;
    const uint32_t first = GetBlockIdx() * tiling.part.perBlock;
    const uint32_t left = first < tiling.part.rows ? tiling.part.rows - first : 0;
    rows = left < tiling.part.perBlock ? left : tiling.part.perBlock;
    xGm.SetGlobalBuffer((__gm__ float*)x + first * inner, rows * inner);
    yGm.SetGlobalBuffer((__gm__ float*)y + first, rows);
    const uint32_t padded = (inner + 7) / 8 * 8;
    pipe.InitBuffer(inQueue, 1, padded * sizeof(float));
    pipe.InitBuffer(outQueue, 1, 32);
    pipe.InitBuffer(workBuffer, (padded / 64 + 8) * sizeof(float));
  }
  __aicore__ inline void Process() {
    const DataCopyExtParams in{1, static_cast<uint32_t>(inner * sizeof(float)), 0, 0, 0};
    const DataCopyExtParams one{1, sizeof(float), 0, 0, 0};
    const DataCopyPadExtParams<float> pad{false, 0, 0, 0};
    for (uint32_t row = 0; row < rows; ++row) {
      LocalTensor<float> x = inQueue.AllocTensor<float>();
      DataCopyPad(x, xGm[row * inner], in, pad);
      inQueue.EnQue(x);
      x = inQueue.DeQue<float>();
      LocalTensor<float> y = outQueue.AllocTensor<float>();
      ReduceMax(y, x, workBuffer.Get<float>(), static_cast<int32_t>(inner));
      outQueue.EnQue(y);
      inQueue.FreeTensor(x);
      y = outQueue.DeQue<float>();
      DataCopyPad(yGm[row], y, one);
      outQueue.FreeTensor(y);
    }
  }

 private:
  TPipe pipe;
  TQue<QuePosition::VECIN, 1> inQueue;
  TQue<QuePosition::VECOUT, 1> outQueue;
  TBuf<QuePosition::VECCALC> workBuffer;
  GlobalTensor<float> xGm, yGm;
  uint32_t inner, rows;
};

extern "C" __global__ __aicore__ void row_max(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  if (TILING_KEY_IS(10)) {
    KernelRowMax op;
    op.Init(x, y, data);
    op.Process();
  } else if (TILING_KEY_IS(20)) {
    KernelRowMax op;
    op.Init(x, y, data);
    op.Process();
  }
}
