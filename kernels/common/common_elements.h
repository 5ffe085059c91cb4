// Operators that work element by element: what is the same for all of them. A tile of each input comes through a queue of two buffers,
// a formula makes a tile of each output, and that leaves through another queue. What an operator adds is its formula.
//
// A formula is a class with kInputs, kOutputs, kScratch, the number of intermediate tensors that it needs, and with
//   Apply(out, in, scratch, n)
// for n floats: out[kOutputs], in[kInputs] and scratch[kScratch] are tensors. out[i] may be in[i], so only an instruction after which
// nobody reads in[i] may write it. Between two instructions that use one tensor stands a PipeBarrier, so that no operator counts on the
// compiler for their order. Several formulas become one with common_chain.h.
#pragma once
#include "common_dtype.h"
#include "common_elements_tiling.h"

using Floats = AscendC::LocalTensor<float>;

// Elements of a tile at most: a float tile is 16 KiB. Two inputs and one output, two buffers each, are 96 KiB; four intermediate tensors
// 65 KiB. A formula that needs more gets shorter tiles.
constexpr uint32_t kElementsTile = 4096;
constexpr uint32_t kElementsLocal = 192 * 1024;  // bytes of local memory on the smallest chip, Ascend 910B
// From one intermediate tensor to the next: 256 bytes more than a tile, so that two operands lie in different banks.
constexpr uint32_t kElementsGap = 64;

// The tile of a formula: whole lines of the L2 cache, as many as find room.
constexpr uint32_t ElementsTile(uint32_t queues, uint32_t itemBytes, uint32_t floats) {
  const uint32_t line = kElementsLine / itemBytes;
  const uint32_t room = kElementsLocal - floats * kElementsGap * static_cast<uint32_t>(sizeof(float));
  const uint32_t most = room / (2 * queues * itemBytes + floats * static_cast<uint32_t>(sizeof(float)));
  return most < kElementsTile ? most / line * line : kElementsTile;
}

// The elements of this block's share of n: whole lines, the last ones may be shorter. line: elements of one.
struct ElementsShare {
  uint32_t begin = 0;
  uint32_t end = 0;

  __aicore__ inline void Take(uint32_t n, uint32_t line) {
    const uint32_t cores = static_cast<uint32_t>(AscendC::GetBlockNum());
    const uint32_t share = ((n + line - 1) / line + cores - 1) / cores * line;
    const uint64_t first = static_cast<uint64_t>(share) * static_cast<uint32_t>(AscendC::GetBlockIdx());
    begin = first < n ? static_cast<uint32_t>(first) : n;
    end = n - begin > share ? begin + share : n;
  }
};

template <class T, class Formula>
class MapElements {
 public:
  // in and out: the inputs and outputs, in the formula's order, n elements each, in global memory.
  __aicore__ inline void Init(AscendC::TPipe* pipe, GM_ADDR const (&in)[Formula::kInputs],
                              GM_ADDR const (&out)[Formula::kOutputs], uint32_t n) {
    share_.Take(n, kElementsLine / sizeof(T));  // lines of the L2 cache
    for (uint32_t i = 0; i < Formula::kInputs; ++i) {
      inGm_[i].SetGlobalBuffer(reinterpret_cast<__gm__ T*>(in[i]), n);
      pipe->InitBuffer(inQueue_[i], 2, kTile * sizeof(T));
    }
    for (uint32_t i = 0; i < Formula::kOutputs; ++i) {
      outGm_[i].SetGlobalBuffer(reinterpret_cast<__gm__ T*>(out[i]), n);
      pipe->InitBuffer(outQueue_[i], 2, kTile * sizeof(T));
    }
    if constexpr (kFloats > 0) {
      pipe->InitBuffer(floatBuf_, kFloats * kSlot * sizeof(float));
      floats_ = floatBuf_.Get<float>();
    }
  }

  __aicore__ inline void Process() {
    for (uint32_t at = share_.begin; at < share_.end; at += kTile) {
      const uint32_t count = share_.end - at < kTile ? share_.end - at : kTile;
      CopyIn(at, count);
      Compute(count);
      CopyOut(at, count);
    }
  }

 private:
  // Narrow inputs get a tensor of floats each, behind the formula's own; what leaves is made in the first of them.
  static constexpr uint32_t kMost = Formula::kInputs > Formula::kOutputs ? Formula::kInputs : Formula::kOutputs;
  static constexpr uint32_t kWidened = kIsFloat<T> ? 0 : kMost;
  static constexpr uint32_t kFloats = Formula::kScratch + kWidened;
  static constexpr uint32_t kTile = ElementsTile(Formula::kInputs + Formula::kOutputs, sizeof(T), kFloats);
  static constexpr uint32_t kSlot = kTile + kElementsGap;

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
    AscendC::LocalTensor<T> y[Formula::kOutputs];
    Floats in[kMost];
    Floats scratch[Formula::kScratch + 1];  // one more, because no array is empty
    for (uint32_t i = 0; i < Formula::kScratch; ++i) scratch[i] = floats_[i * kSlot];
    if constexpr (!kIsFloat<T>) {
      for (uint32_t i = 0; i < kMost; ++i) in[i] = floats_[(Formula::kScratch + i) * kSlot];
    }
    for (uint32_t i = 0; i < Formula::kInputs; ++i) {
      x[i] = inQueue_[i].template DeQue<T>();
      in[i] = Widen(in[i], x[i], count);
    }
    for (uint32_t i = 0; i < Formula::kOutputs; ++i) y[i] = outQueue_[i].template AllocTensor<T>();
    if constexpr (kIsFloat<T>) {
      Formula::Apply(y, in, scratch, static_cast<int32_t>(count));
    } else {
      AscendC::PipeBarrier<PIPE_V>();
      Formula::Apply(in, in, scratch, static_cast<int32_t>(count));
      AscendC::PipeBarrier<PIPE_V>();
      for (uint32_t i = 0; i < Formula::kOutputs; ++i) Narrow(y[i], in[i], count);
    }
    for (uint32_t i = 0; i < Formula::kOutputs; ++i) outQueue_[i].EnQue(y[i]);
    for (uint32_t i = 0; i < Formula::kInputs; ++i) inQueue_[i].FreeTensor(x[i]);
    AscendC::PipeBarrier<PIPE_V>();  // the next tile writes into the same intermediate tensors
  }

  __aicore__ inline void CopyOut(uint32_t at, uint32_t count) {
    AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    for (uint32_t i = 0; i < Formula::kOutputs; ++i) {
      AscendC::LocalTensor<T> y = outQueue_[i].template DeQue<T>();
      AscendC::DataCopyPad(outGm_[i][at], y, row);
      outQueue_[i].FreeTensor(y);
    }
  }

  AscendC::TQue<AscendC::TPosition::VECIN, 1> inQueue_[Formula::kInputs];
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> outQueue_[Formula::kOutputs];
  AscendC::TBuf<AscendC::TPosition::VECCALC> floatBuf_;
  Floats floats_;
  AscendC::GlobalTensor<T> inGm_[Formula::kInputs];
  AscendC::GlobalTensor<T> outGm_[Formula::kOutputs];
  ElementsShare share_;
};

template <class Formula>
struct MapOf {
  template <class T>
  using Elements = MapElements<T, Formula>;
};

// dtype: that of all tensors, as CANN numbers it (ge::DataType). GM_ADDR may be a macro: a const in front of it would be the bytes'.
template <class Formula>
__aicore__ inline void RunMapOf(uint32_t dtype, GM_ADDR const (&in)[Formula::kInputs],
                                GM_ADDR const (&out)[Formula::kOutputs], uint32_t n) {
  RunForDtype<MapOf<Formula>::template Elements>(dtype, in, out, n);
}
