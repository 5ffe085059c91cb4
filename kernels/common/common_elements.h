// Operators that work element by element: what is the same for all of them. A tile of each input comes through a queue of two buffers,
// a formula makes a tile of the output, and that leaves through another queue. What an operator adds is its formula.
//
// A formula is a class with kInputs, with kScratch, the number of intermediate tensors that it needs, and with
//   Apply(out, in, scratch, n)
// for n floats: in[kInputs] and scratch[kScratch] are tensors. Only its last instruction may write `out`, which may be in[0]. Between
// two instructions that use one tensor stands a PipeBarrier, so that no operator counts on the compiler for their order.
#pragma once
#include "common_dtype.h"
#include "common_elements_tiling.h"

// Elements of a tile: a float tile is 16 KiB. Two inputs and one output, two buffers each, are 96 KiB; four intermediate tensors 65 KiB.
constexpr uint32_t kElementsTile = 4096;
// From one intermediate tensor to the next: 256 bytes more than a tile, so that two operands lie in different banks.
constexpr uint32_t kElementsSlot = kElementsTile + 64;

template <class T, class Formula>
class MapElements {
 public:
  // in: the inputs, in the formula's order, and out: n elements each, in global memory.
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR const (&in)[Formula::kInputs], GM_ADDR out, uint32_t n) {
    // Shares are whole lines of the L2 cache; the last ones may be shorter.
    constexpr uint32_t kLine = kElementsLine / sizeof(T);
    const uint32_t cores = static_cast<uint32_t>(AscendC::GetBlockNum());
    const uint32_t share = ((n + kLine - 1) / kLine + cores - 1) / cores * kLine;
    const uint64_t begin = static_cast<uint64_t>(share) * static_cast<uint32_t>(AscendC::GetBlockIdx());
    begin_ = begin < n ? static_cast<uint32_t>(begin) : n;
    end_ = n - begin_ > share ? begin_ + share : n;
    for (uint32_t i = 0; i < Formula::kInputs; ++i) {
      inGm_[i].SetGlobalBuffer(reinterpret_cast<__gm__ T*>(in[i]), n);
      pipe->InitBuffer(inQueue_[i], 2, kElementsTile * sizeof(T));
    }
    outGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(out), n);
    pipe->InitBuffer(outQueue_, 2, kElementsTile * sizeof(T));
    pipe->InitBuffer(floatBuf_, (Formula::kScratch + kWidened) * kElementsSlot * sizeof(float));
    floats_ = floatBuf_.Get<float>();
  }

  __aicore__ inline void Process() {
    for (uint32_t at = begin_; at < end_; at += kElementsTile) {
      const uint32_t count = end_ - at < kElementsTile ? end_ - at : kElementsTile;
      CopyIn(at, count);
      Compute(count);
      CopyOut(at, count);
    }
  }

 private:
  // Narrow inputs get a tensor of floats each, behind the formula's own.
  static constexpr uint32_t kWidened = kIsFloat<T> ? 0 : Formula::kInputs;

  __aicore__ inline void CopyIn(uint32_t at, uint32_t count) {
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0.0f)};
    for (uint32_t i = 0; i < Formula::kInputs; ++i) {
      AscendC::LocalTensor<T> x = inQueue_[i].template AllocTensor<T>();
      AscendC::DataCopyPad(x, inGm_[i][at], row, pad);
      inQueue_[i].EnQue(x);
    }
  }

  __aicore__ inline void Compute(uint32_t count) {
    AscendC::LocalTensor<T> x[Formula::kInputs];
    AscendC::LocalTensor<float> wide[Formula::kInputs];
    AscendC::LocalTensor<float> scratch[Formula::kScratch];
    for (uint32_t i = 0; i < Formula::kScratch; ++i) scratch[i] = floats_[i * kElementsSlot];
    for (uint32_t i = 0; i < Formula::kInputs; ++i) {
      x[i] = inQueue_[i].template DeQue<T>();
      wide[i] = kIsFloat<T> ? floats_ : floats_[(Formula::kScratch + i) * kElementsSlot];
      wide[i] = Widen(wide[i], x[i], count);
    }
    AscendC::LocalTensor<T> y = outQueue_.template AllocTensor<T>();
    if constexpr (kIsFloat<T>) {
      Formula::Apply(y, wide, scratch, static_cast<int32_t>(count));
    } else {
      AscendC::PipeBarrier<PIPE_V>();
      Formula::Apply(wide[0], wide, scratch, static_cast<int32_t>(count));
      AscendC::PipeBarrier<PIPE_V>();
      Narrow(y, wide[0], count);
    }
    outQueue_.EnQue(y);
    for (uint32_t i = 0; i < Formula::kInputs; ++i) inQueue_[i].FreeTensor(x[i]);
    AscendC::PipeBarrier<PIPE_V>();  // the next tile writes into the same intermediate tensors
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<T> y = outQueue_.template DeQue<T>();
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    AscendC::DataCopyPad(outGm_[at], y, row);
    outQueue_.FreeTensor(y);
  }

  AscendC::TQue<AscendC::TPosition::VECIN, 1> inQueue_[Formula::kInputs];
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> outQueue_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> floatBuf_;
  AscendC::LocalTensor<float> floats_;
  AscendC::GlobalTensor<T> inGm_[Formula::kInputs];
  AscendC::GlobalTensor<T> outGm_;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};

template <class Formula>
struct MapOf {
  template <class T>
  using Elements = MapElements<T, Formula>;
};

// dtype: that of all tensors, as CANN numbers it (ge::DataType). GM_ADDR may be a macro: a const in front of it would be the bytes'.
template <class Formula>
__aicore__ inline void RunMapOf(uint32_t dtype, GM_ADDR const (&in)[Formula::kInputs], GM_ADDR out, uint32_t n) {
  RunForDtype<MapOf<Formula>::template Elements>(dtype, in, out, n);
}
