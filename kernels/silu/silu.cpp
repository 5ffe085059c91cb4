// y = x / (1 + e^-x) for n elements of float, half or bfloat16: SiLU as an operator of its own.
//
// What kernels/group_norm/group_norm_silu.cpp is compared with: x is what GroupNorm wrote, so the same numbers go through memory a
// second time. Two buffers a queue, and one piece of work for each core, so that the copies are all that it can wait for.
// The timeline should show MTE2 and MTE3 without a gap, V between them.
#include "kernel_operator.h"

constexpr uint32_t kTile =
    4096;  // elements: as floats 16 KiB; two in, two out, and two of intermediate results are 96 KiB

template <class T>
class Silu {
 public:
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR y, uint32_t n) {
    // Shares are whole blocks of 512 bytes, which is a line of the L2 cache; the last ones may be shorter.
    constexpr uint32_t kLine = 512 / sizeof(T);
    const uint32_t cores = static_cast<uint32_t>(AscendC::GetBlockNum());
    const uint32_t share = ((n + kLine - 1) / kLine + cores - 1) / cores * kLine;
    begin_ = share * static_cast<uint32_t>(AscendC::GetBlockIdx());
    begin_ = begin_ < n ? begin_ : n;
    end_ = n - begin_ > share ? begin_ + share : n;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), n);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), n);
    pipe->InitBuffer(xQueue_, 2, kTile * sizeof(T));
    pipe->InitBuffer(yQueue_, 2, kTile * sizeof(T));
    pipe->InitBuffer(wideBuf_, 2 * kTile * sizeof(float) + 256);
    wide_ = wideBuf_.Get<float>();
    scratch_ = wide_[kTile + 64];  // 256 bytes on: the operands of a division in different banks
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
    AscendC::LocalTensor<T> x = xQueue_.template AllocTensor<T>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0.0f)};
    AscendC::DataCopyPad(x, xGm_[at], row, pad);
    xQueue_.EnQue(x);
  }

  __aicore__ inline void Compute(int32_t n) {
    AscendC::LocalTensor<T> x = xQueue_.template DeQue<T>();
    AscendC::LocalTensor<T> y = yQueue_.template AllocTensor<T>();
    if constexpr (sizeof(T) == sizeof(float)) {
      Divide(y, x, n);
    } else {
      AscendC::Cast(wide_, x, AscendC::RoundMode::CAST_NONE, n);
      Divide(wide_, wide_, n);
      AscendC::Cast(y, wide_, AscendC::RoundMode::CAST_RINT, n);
    }
    yQueue_.EnQue(y);
    xQueue_.FreeTensor(x);
  }

  // Why a division, and what it makes of extreme numbers: kernels/group_norm/group_norm_epilogue.h.
  __aicore__ inline void Divide(const AscendC::LocalTensor<float>& y, const AscendC::LocalTensor<float>& x, int32_t n) {
    AscendC::Muls(scratch_, x, -1.0f, n);
    AscendC::Exp(scratch_, scratch_, n);
    AscendC::Adds(scratch_, scratch_, 1.0f, n);
    AscendC::Div(y, x, scratch_, n);
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<T> y = yQueue_.template DeQue<T>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPad(yGm_[at], y, row);
    yQueue_.FreeTensor(y);
  }

  AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> wideBuf_;
  AscendC::LocalTensor<float> wide_;
  AscendC::LocalTensor<float> scratch_;
  AscendC::GlobalTensor<T> xGm_;
  AscendC::GlobalTensor<T> yGm_;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};

template <class T>
__aicore__ inline void RunSilu(GM_ADDR x, GM_ADDR y, uint32_t n) {
  AscendC::TPipe pipe;
  Silu<T> op;
  op.Init(&pipe, x, y, n);
  op.Process();
}

// dtype: that of x and y, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void silu_kernel(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t dtype) {
  switch (dtype) {
    case 0: return RunSilu<float>(x, y, n);
    case 1: return RunSilu<half>(x, y, n);
    case 27: return RunSilu<bfloat16_t>(x, y, n);
  }
}
