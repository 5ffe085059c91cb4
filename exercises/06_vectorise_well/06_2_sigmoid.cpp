// 06.2 Sigmoid of half numbers: y = 1 / (1 + exp(-x)).
//
// x and y have n half numbers each. Compute in float: the largest half is 65504, and
// exp(-x) may be larger. Use the basic instructions in their count form: Cast, Muls,
// Exp, Adds, Duplicate, Div. The high-level Sigmoid is not accepted, and Reciprocal is
// not accurate.
#include "kernel_operator.h"

constexpr uint32_t kTile = 1024;  // elements of a tile

class SigmoidHalf {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR y, uint32_t n) {
    // Shares of whole 32-byte blocks, 16 halves; the last block takes the rest.
    const uint32_t blocks = static_cast<uint32_t>(AscendC::GetBlockNum());
    const uint32_t share = ((n + 15) / 16 + blocks - 1) / blocks * 16;
    begin_ = static_cast<uint32_t>(AscendC::GetBlockIdx()) * share;
    begin_ = begin_ < n ? begin_ : n;
    end_ = begin_ + share < n ? begin_ + share : n;

    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(x), n);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y), n);
    pipe->InitBuffer(xQueue_, 2, kTile * sizeof(half));
    pipe->InitBuffer(yQueue_, 2, kTile * sizeof(half));
    pipe->InitBuffer(workBuf_, kTile * sizeof(float));
    pipe->InitBuffer(onesBuf_, kTile * sizeof(float));
    work_ = workBuf_.Get<float>();
    ones_ = onesBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    // YOUR TURN: tile by tile, with CopyIn, Compute and CopyOut. The last tile may be
    // shorter.
  }

 private:
  // `count` elements from element `at` on. DataCopyPad takes any number of bytes.
  __aicore__ inline void CopyIn(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<half> x = xQueue_.AllocTensor<half>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(half)), 0, 0,
                                   0};
    AscendC::DataCopyPadExtParams<half> pad{false, 0, 0, static_cast<half>(0.0f)};
    AscendC::DataCopyPad(x, xGm_[at], row, pad);
    xQueue_.EnQue(x);
  }

  __aicore__ inline void Compute(uint32_t count) {
    AscendC::LocalTensor<half> x = xQueue_.DeQue<half>();
    AscendC::LocalTensor<half> y = yQueue_.AllocTensor<half>();
    // YOUR TURN: compute y from x, in float. work_ and ones_ each have room for a tile
    // of floats.
    (void)count;
    yQueue_.EnQue(y);
    xQueue_.FreeTensor(x);
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<half> y = yQueue_.DeQue<half>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(half)), 0, 0,
                                   0};
    AscendC::DataCopyPad(yGm_[at], y, row);
    yQueue_.FreeTensor(y);
  }

  AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> onesBuf_;
  AscendC::LocalTensor<float> work_;  // kTile floats each
  AscendC::LocalTensor<float> ones_;
  AscendC::GlobalTensor<half> xGm_;
  AscendC::GlobalTensor<half> yGm_;
  uint32_t begin_ = 0;  // this core's elements: begin_ .. end_ - 1
  uint32_t end_ = 0;
};

extern "C" __global__ __aicore__ void sigmoid(GM_ADDR x, GM_ADDR y, uint32_t n) {
  AscendC::TPipe pipe;
  SigmoidHalf op;
  op.Init(&pipe, x, y, n);
  op.Process();
}
