// z = x + y for n floats: two input queues, one output queue, one vector instruction per tile.
//
// New since copy: the vector unit (V) works between the two DMA pipes, and queues order all three. With one buffer per queue the
// timeline should show CopyIn, Compute and CopyOut of a tile one after the other.
#include "kernel_operator.h"

constexpr uint32_t kTile = 2048;  // elements: 8 KiB per buffer, three buffers

class Add {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t n) {
    pipe_ = pipe;
    // Shares are whole 32-byte blocks (8 floats); the last ones may be shorter.
    const uint32_t blocks = static_cast<uint32_t>(AscendC::GetBlockNum());
    const uint32_t share = ((n + 7) / 8 + blocks - 1) / blocks * 8;
    begin_ = share * static_cast<uint32_t>(AscendC::GetBlockIdx());
    begin_ = begin_ < n ? begin_ : n;
    end_ = begin_ + share < n ? begin_ + share : n;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), n);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), n);
    zGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(z), n);
    pipe_->InitBuffer(xQueue_, 1, kTile * sizeof(float));
    pipe_->InitBuffer(yQueue_, 1, kTile * sizeof(float));
    pipe_->InitBuffer(zQueue_, 1, kTile * sizeof(float));
  }

  __aicore__ inline void Process() {
    for (uint32_t at = begin_; at < end_; at += kTile) {
      const uint32_t count = end_ - at < kTile ? end_ - at : kTile;
      CopyIn(at, count);
      Compute(count);
      CopyOut(at, count);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<float> x = xQueue_.AllocTensor<float>();
    AscendC::LocalTensor<float> y = yQueue_.AllocTensor<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(x, xGm_[at], row, pad);
    AscendC::DataCopyPad(y, yGm_[at], row, pad);
    xQueue_.EnQue(x);
    yQueue_.EnQue(y);
  }

  __aicore__ inline void Compute(uint32_t count) {
    AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
    AscendC::LocalTensor<float> y = yQueue_.DeQue<float>();
    AscendC::LocalTensor<float> z = zQueue_.AllocTensor<float>();
    AscendC::Add(z, x, y, static_cast<int32_t>(count));
    zQueue_.EnQue(z);
    xQueue_.FreeTensor(x);
    yQueue_.FreeTensor(y);
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<float> z = zQueue_.DeQue<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(zGm_[at], z, row);
    zQueue_.FreeTensor(z);
  }

  AscendC::TPipe* pipe_ = nullptr;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> yQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> zQueue_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> yGm_;
  AscendC::GlobalTensor<float> zGm_;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};

extern "C" __global__ __aicore__ void add_kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t n) {
  // Not a member of the class: with the pipe inside, the compiler no longer treats the object's members as constants.
  AscendC::TPipe pipe;
  Add op;
  op.Init(&pipe, x, y, z, n);
  op.Process();
}
