// 12.5 The gradient of GELU: dx = dy * slope(x), for n floats.
//
// GELU in its tanh form is y = x * s with s = 1 / (1 + exp(-v)) and v = x * (A + B *
// x^2). Both x and s depend on x, so its slope has two terms:
//   slope = s + x * s * (1 - s) * w     with w = A + 3 * B * x^2, the slope of v
// dx must be right for every finite x, even for 1e20. Use the basic instructions in
// their count form: Mins, Maxs, Muls, Adds, Mul, Add, Exp, Div and so on.
#include "kernel_operator.h"

constexpr uint32_t kTile = 1024;  // elements of a tile
constexpr float kA = 1.5957691f;
constexpr float kB = 0.071354813f;

class GeluGradient {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR dy, GM_ADDR x, GM_ADDR dx,
                              uint32_t n) {
    // Shares of whole 32-byte blocks, 8 floats; the last block takes the rest.
    const uint32_t blocks = static_cast<uint32_t>(AscendC::GetBlockNum());
    const uint32_t share = ((n + 7) / 8 + blocks - 1) / blocks * 8;
    begin_ = static_cast<uint32_t>(AscendC::GetBlockIdx()) * share;
    begin_ = begin_ < n ? begin_ : n;
    end_ = begin_ + share < n ? begin_ + share : n;

    dyGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dy), n);
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), n);
    dxGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(dx), n);
    pipe->InitBuffer(dyQueue_, 2, kTile * sizeof(float));
    pipe->InitBuffer(xQueue_, 2, kTile * sizeof(float));
    pipe->InitBuffer(dxQueue_, 2, kTile * sizeof(float));
    pipe->InitBuffer(workBuf_, 4 * kTile * sizeof(float));
    a_ = workBuf_.Get<float>();
    b_ = a_[kTile];
    c_ = b_[kTile];
    ones_ = c_[kTile];
    AscendC::Duplicate(ones_, 1.0f, static_cast<int32_t>(kTile));
  }

  __aicore__ inline void Process() {
    for (uint32_t at = begin_; at < end_; at += kTile) {
      const uint32_t count = end_ - at < kTile ? end_ - at : kTile;
      CopyIn(at, count);
      Compute(static_cast<int32_t>(count));
      CopyOut(at, count);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<float> dy = dyQueue_.AllocTensor<float>();
    AscendC::LocalTensor<float> x = xQueue_.AllocTensor<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0,
                                   0, 0};
    AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
    AscendC::DataCopyPad(dy, dyGm_[at], row, pad);
    AscendC::DataCopyPad(x, xGm_[at], row, pad);
    dyQueue_.EnQue(dy);
    xQueue_.EnQue(x);
  }

  __aicore__ inline void Compute(int32_t n) {
    AscendC::LocalTensor<float> dy = dyQueue_.DeQue<float>();
    AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
    AscendC::LocalTensor<float> dx = dxQueue_.AllocTensor<float>();
    // From 11 on the slope is 1, below -11 it is 0, to the last digit of a float.
    AscendC::Mins(x, x, 11.0f, n);
    AscendC::Maxs(x, x, -11.0f, n);
    AscendC::Mul(a_, x, x, n);
    AscendC::Muls(b_, a_, kB, n);
    AscendC::Adds(b_, b_, kA, n);
    AscendC::Mul(b_, b_, x, n);  // v
    AscendC::Muls(a_, a_, 3.0f * kB, n);
    AscendC::Adds(a_, a_, kA, n);  // w
    AscendC::Muls(b_, b_, -1.0f, n);
    AscendC::Exp(b_, b_, n);
    AscendC::Adds(b_, b_, 1.0f, n);
    AscendC::Div(b_, ones_, b_, n);  // s
    AscendC::Sub(c_, ones_, b_, n);  // 1 - s
    AscendC::Mul(c_, c_, b_, n);
    AscendC::Mul(c_, c_, x, n);
    AscendC::Mul(c_, c_, a_, n);
    AscendC::Add(c_, c_, b_, n);
    AscendC::Mul(dx, dy, c_, n);
    dxQueue_.EnQue(dx);
    dyQueue_.FreeTensor(dy);
    xQueue_.FreeTensor(x);
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<float> dx = dxQueue_.DeQue<float>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(float)), 0,
                                   0, 0};
    AscendC::DataCopyPad(dxGm_[at], dx, row);
    dxQueue_.FreeTensor(dx);
  }

  AscendC::TQue<AscendC::TPosition::VECIN, 1> dyQueue_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> dxQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> workBuf_;
  AscendC::LocalTensor<float> a_;  // kTile floats each
  AscendC::LocalTensor<float> b_;
  AscendC::LocalTensor<float> c_;
  AscendC::LocalTensor<float> ones_;  // all of them 1
  AscendC::GlobalTensor<float> dyGm_;
  AscendC::GlobalTensor<float> xGm_;
  AscendC::GlobalTensor<float> dxGm_;
  uint32_t begin_ = 0;  // this core's elements: begin_ .. end_ - 1
  uint32_t end_ = 0;
};

extern "C" __global__ __aicore__ void gelu_gradient(GM_ADDR dy, GM_ADDR x, GM_ADDR dx,
                                                    uint32_t n) {
  AscendC::TPipe pipe;
  GeluGradient op;
  op.Init(&pipe, dy, x, dx, n);
  op.Process();
}
