// 02.1 Repair the buffer. Both inputs share one buffer of one queue, so that a tile
// needs one EnQue instead of two. This works for some sizes, but the twin stops the
// kernel for others. Where does y begin, and where may an operand begin?
//
// z = x + y for n floats. Each block adds its share of the arrays, elements begin_ to
// end_ - 1, in tiles of at most kTile elements. The mistake is in CopyIn and in
// Compute; the rest is right. Copy and add exactly the elements of the share, no more
// and no fewer.
#include "kernel_operator.h"

constexpr uint32_t kTile = 512;  // elements

class AddPairs {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR y, GM_ADDR z,
                              uint32_t n) {
    // Shares are whole 32-byte blocks (8 floats); the last ones may be shorter.
    const uint32_t blocks = static_cast<uint32_t>(AscendC::GetBlockNum());
    const uint32_t share = ((n + 7) / 8 + blocks - 1) / blocks * 8;
    begin_ = share * static_cast<uint32_t>(AscendC::GetBlockIdx());
    begin_ = begin_ < n ? begin_ : n;
    end_ = begin_ + share < n ? begin_ + share : n;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), n);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), n);
    zGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(z), n);
    pipe->InitBuffer(inQueue_, 1, 2 * kTile * sizeof(float));
    pipe->InitBuffer(outQueue_, 1, kTile * sizeof(float));
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
  // x goes to the beginning of the buffer, y after it.
  __aicore__ inline void CopyIn(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<float> in = inQueue_.AllocTensor<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0,
                                   0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(in, xGm_[at], row, pad);
    AscendC::DataCopyPad(in[count], yGm_[at], row, pad);
    inQueue_.EnQue(in);
  }

  __aicore__ inline void Compute(uint32_t count) {
    AscendC::LocalTensor<float> in = inQueue_.DeQue<float>();
    AscendC::LocalTensor<float> out = outQueue_.AllocTensor<float>();
    AscendC::Add(out, in, in[count], static_cast<int32_t>(count));
    outQueue_.EnQue(out);
    inQueue_.FreeTensor(in);
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<float> out = outQueue_.DeQue<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0,
                                   0, 0};
    AscendC::DataCopyPad(zGm_[at], out, row);
    outQueue_.FreeTensor(out);
  }

  AscendC::TQue<AscendC::TPosition::VECIN, 1> inQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> outQueue_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> yGm_;
  AscendC::GlobalTensor<float> zGm_;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};

extern "C" __global__ __aicore__ void add_pairs(GM_ADDR x, GM_ADDR y, GM_ADDR z,
                                                uint32_t n) {
  AscendC::TPipe pipe;
  AddPairs op;
  op.Init(&pipe, x, y, z, n);
  op.Process();
}
