// Copies n floats: the smallest kernel that moves data the way every later one does.
//
// Each block takes an equal share of the array, in tiles that fit the Unified Buffer (UB): global memory -> UB -> global memory.
// The timeline should show nothing but the two DMA pipes, MTE2 in and MTE3 out, one after the other.
#include "kernel_operator.h"

constexpr uint32_t kTile = 4096;  // elements: 16 KiB of the 192 KiB of UB

class Copy {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR y, uint32_t n) {
    pipe_ = pipe;
    // Shares are whole 32-byte blocks (8 floats), so that every block starts at an aligned address; the last ones may be shorter.
    const uint32_t blocks = static_cast<uint32_t>(AscendC::GetBlockNum());
    const uint32_t share = ((n + 7) / 8 + blocks - 1) / blocks * 8;
    begin_ = share * static_cast<uint32_t>(AscendC::GetBlockIdx());
    begin_ = begin_ < n ? begin_ : n;
    end_ = begin_ + share < n ? begin_ + share : n;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), n);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), n);
    pipe_->InitBuffer(queue_, 1, kTile * sizeof(float));
  }

  __aicore__ inline void Process() {
    for (uint32_t at = begin_; at < end_; at += kTile) {
      const uint32_t count = end_ - at < kTile ? end_ - at : kTile;
      CopyIn(at, count);
      CopyOut(at, count);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<float> tile = queue_.AllocTensor<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(tile, xGm_[at], row, pad);
    queue_.EnQue(tile);
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<float> tile = queue_.DeQue<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    AscendC::DataCopyPad(yGm_[at], tile, row);
    queue_.FreeTensor(tile);
  }

  AscendC::TPipe* pipe_ = nullptr;
  // One queue binds both ends: what MTE2 wrote, MTE3 may read, with no vector instruction between them.
  AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 1> queue_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> yGm_;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};

extern "C" __global__ __aicore__ void copy_kernel(GM_ADDR x, GM_ADDR y, uint32_t n) {
  // Not a member of the class: with the pipe inside, the compiler no longer treats the object's members as constants.
  AscendC::TPipe pipe;
  Copy op;
  op.Init(&pipe, x, y, n);
  op.Process();
}
