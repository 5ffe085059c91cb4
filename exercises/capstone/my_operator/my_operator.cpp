// YOUR TURN: what the operator computes. reference.py says it in NumPy; so far it is y
// = 2 * x.
//
// A start: the rows are divided over the cores, and each comes in and goes out in
// tiles. Write Compute, and the passes over a row that it needs. Then: float16, two
// buffers a queue, and many short rows in one tile.
#include "kernel_operator.h"
#include "my_operator_tiling.h"

constexpr uint32_t kTile = 4096;  // elements at once; a longer row is several tiles

class MyOperator {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe,
                              const __gm__ MyOperatorTilingData* tiling, GM_ADDR x,
                              GM_ADDR y) {
    tiling_ = tiling;
    const uint64_t all = static_cast<uint64_t>(tiling->rows) * tiling->length;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), all);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), all);
    pipe->InitBuffer(xQueue_, 1, kTile * sizeof(float));
    pipe->InitBuffer(yQueue_, 1, kTile * sizeof(float));
  }

  __aicore__ inline void Process() {
    const uint32_t core = static_cast<uint32_t>(AscendC::GetBlockIdx());
    const uint32_t rows = tiling_->rowsPerCore + (core < tiling_->extraRows ? 1 : 0);
    const uint32_t first = core * tiling_->rowsPerCore +
                           (core < tiling_->extraRows ? core : tiling_->extraRows);
    for (uint32_t row = first; row < first + rows; ++row) {
      for (uint32_t start = 0; start < tiling_->length; start += kTile) {
        const uint32_t left = tiling_->length - start, n = left < kTile ? left : kTile;
        const uint64_t at = static_cast<uint64_t>(row) * tiling_->length + start;
        CopyIn(at, n);
        Compute(n);
        CopyOut(at, n);
      }
    }
  }

 private:
  __aicore__ inline void CopyIn(uint64_t at, uint32_t n) {
    AscendC::LocalTensor<float> x = xQueue_.AllocTensor<float>();
    const AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(n * sizeof(float)),
                                          0, 0, 0};
    const AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(x, xGm_[at], part, pad);
    xQueue_.EnQue(x);
  }

  // YOUR TURN. This copies x to y.
  __aicore__ inline void Compute(uint32_t n) {
    AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
    AscendC::LocalTensor<float> y = yQueue_.AllocTensor<float>();
    AscendC::Adds(y, x, 0.0f, static_cast<int32_t>(n));
    // Before the next instruction that touches y: with --waits explicit the compiler
    // adds no wait. The copy out waits by EnQue and DeQue.
    AscendC::PipeBarrier<PIPE_V>();
    yQueue_.EnQue(y);
    xQueue_.FreeTensor(x);
  }

  __aicore__ inline void CopyOut(uint64_t at, uint32_t n) {
    AscendC::LocalTensor<float> y = yQueue_.DeQue<float>();
    const AscendC::DataCopyExtParams part{1, static_cast<uint32_t>(n * sizeof(float)),
                                          0, 0, 0};
    AscendC::DataCopyPad(yGm_[at], y, part);
    yQueue_.FreeTensor(y);
  }

  const __gm__ MyOperatorTilingData* tiling_ = nullptr;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> yGm_;
};

extern "C" __global__ __aicore__ void my_operator_kernel(GM_ADDR x, GM_ADDR y,
                                                         GM_ADDR tiling) {
  AscendC::TPipe pipe;
  MyOperator op;
  op.Init(&pipe, reinterpret_cast<const __gm__ MyOperatorTilingData*>(tiling), x, y);
  op.Process();
}
