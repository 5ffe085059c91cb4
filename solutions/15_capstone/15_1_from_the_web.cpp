// y = x * x, and the sum of all squares is added to total[0], which the host has set to
// zero. Any number of elements, on any number of cores.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr int32_t TILE_LENGTH = 32;

class KernelSquareSum {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR total,
                              uint32_t totalLength) {
    // The shares are rounded up, so the last blocks may have less, or nothing.
    const uint32_t share = (totalLength + GetBlockNum() - 1) / GetBlockNum();
    const uint32_t first = share * GetBlockIdx();
    const uint32_t left = first < totalLength ? totalLength - first : 0;
    blockLength_ = left < share ? left : share;
    xGm_.SetGlobalBuffer((__gm__ float*)x + first, blockLength_);
    yGm_.SetGlobalBuffer((__gm__ float*)y + first, blockLength_);
    totalGm_.SetGlobalBuffer((__gm__ float*)total, 1);
    pipe_.InitBuffer(xQueue_, BUFFER_NUM, TILE_LENGTH * sizeof(float));
    pipe_.InitBuffer(yQueue_, BUFFER_NUM, TILE_LENGTH * sizeof(float));
    pipe_.InitBuffer(sumQueue_, 1, 32);
    pipe_.InitBuffer(accBuf_, TILE_LENGTH * sizeof(float));
    pipe_.InitBuffer(workBuf_, TILE_LENGTH * sizeof(float));
  }

  __aicore__ inline void Process() {
    acc_ = accBuf_.Get<float>();
    Duplicate(acc_, 0.0f, TILE_LENGTH);
    PipeBarrier<PIPE_V>();
    for (uint32_t at = 0; at < blockLength_; at += TILE_LENGTH) {
      const uint32_t left = blockLength_ - at;
      const uint32_t n = left < TILE_LENGTH ? left : TILE_LENGTH;
      CopyIn(at, n);
      Compute(n);
      CopyOut(at, n);
    }
    AddToTotal();
  }

 private:
  __aicore__ inline void CopyIn(uint32_t at, uint32_t n) {
    LocalTensor<float> x = xQueue_.AllocTensor<float>();
    const uint32_t bytes = n * sizeof(float);
    DataCopyPad(x, xGm_[at], {1, bytes, 0, 0, 0}, {false, 0, 0, 0.0f});
    xQueue_.EnQue(x);
  }

  __aicore__ inline void Compute(uint32_t n) {
    LocalTensor<float> x = xQueue_.DeQue<float>();
    LocalTensor<float> y = yQueue_.AllocTensor<float>();
    Mul(y, x, x, n);
    PipeBarrier<PIPE_V>();
    Add(acc_, acc_, y, n);
    PipeBarrier<PIPE_V>();
    yQueue_.EnQue(y);
    xQueue_.FreeTensor(x);
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t n) {
    LocalTensor<float> y = yQueue_.DeQue<float>();
    const uint32_t bytes = n * sizeof(float);
    DataCopyPad(yGm_[at], y, {1, bytes, 0, 0, 0});
    yQueue_.FreeTensor(y);
  }

  // This block's sum goes out, and the memory adds it: no other block comes in between.
  __aicore__ inline void AddToTotal() {
    LocalTensor<float> sum = sumQueue_.AllocTensor<float>();
    ReduceSum(sum, acc_, workBuf_.Get<float>(), TILE_LENGTH);
    sumQueue_.EnQue(sum);
    sum = sumQueue_.DeQue<float>();
    SetAtomicAdd<float>();
    DataCopyPad(totalGm_, sum, {1, sizeof(float), 0, 0, 0});
    SetAtomicNone();
    sumQueue_.FreeTensor(sum);
  }

  TPipe pipe_;
  TQue<TPosition::VECIN, BUFFER_NUM> xQueue_;
  TQue<TPosition::VECOUT, BUFFER_NUM> yQueue_;
  TQue<TPosition::VECOUT, 1> sumQueue_;
  TBuf<TPosition::VECCALC> accBuf_;
  TBuf<TPosition::VECCALC> workBuf_;
  LocalTensor<float> acc_;
  GlobalTensor<float> xGm_;
  GlobalTensor<float> yGm_;
  GlobalTensor<float> totalGm_;
  uint32_t blockLength_;
};

extern "C" __global__ __aicore__ void square_sum(GM_ADDR x, GM_ADDR y, GM_ADDR total,
                                                 uint32_t totalLength) {
  KernelSquareSum op;
  op.Init(x, y, total, totalLength);
  op.Process();
}
