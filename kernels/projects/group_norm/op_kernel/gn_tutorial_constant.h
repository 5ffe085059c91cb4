// Ones or zeros in the workspace, for a gamma or beta that the caller left out: the kernels read both.
#ifndef GN_TUTORIAL_CONSTANT_H_
#define GN_TUTORIAL_CONSTANT_H_
#include "common/common_sync.h"
#include "kernel_operator.h"

// What an absent gamma is filled with, as bits: 1 in T. half and bfloat16 are told apart here only.
template <class T>
struct GnTutorialBits;
template <>
struct GnTutorialBits<float> {
  using Stored = float;
  static constexpr float kOne = 1.0f;
};
template <>
struct GnTutorialBits<half> {
  using Stored = int16_t;
  static constexpr int16_t kOne = 0x3C00;
};
template <>
struct GnTutorialBits<bfloat16_t> {
  using Stored = int16_t;
  static constexpr int16_t kOne = 0x3F80;
};

__aicore__ inline uint64_t GnTutorialRoundUp(uint64_t bytes) { return (bytes + 31) / 32 * 32; }

// Hands out arrays of the workspace from `at` on, filled by all blocks together. Finish, once, before the first is read.
template <class T>
class GnTutorialConstants {
 public:
  __aicore__ inline GnTutorialConstants(AscendC::TPipe* pipe, GM_ADDR at, uint32_t count)
      : pipe_(pipe), at_(at), count_(count) {
    pipe_->InitBuffer(buffer_, kTile * sizeof(T));
  }

  // `given`, or, where that is absent, the next array of the workspace: `count` ones or zeros.
  __aicore__ inline GM_ADDR Given(GM_ADDR given, bool ones) {
    if (given != nullptr) return given;
    GM_ADDR here = at_;
    Fill(here, ones ? GnTutorialBits<T>::kOne : static_cast<Stored>(0));
    at_ += GnTutorialRoundUp(static_cast<uint64_t>(count_) * sizeof(T));
    filled_ = true;
    return here;
  }

  // No block reads what another has not written yet.
  __aicore__ inline void Finish() {
    if (!filled_) return;
    SyncPipes<AscendC::HardEvent::MTE3_MTE2>(pipe_);
    AscendC::SyncAll();
  }

 private:
  using Stored = typename GnTutorialBits<T>::Stored;
  static constexpr uint32_t kTile = 2048;
  static constexpr uint32_t kBlock = 32 / sizeof(T);

  // The blocks take turns, a tile each. The end is rounded up to 32 bytes, for which the array has room.
  __aicore__ inline void Fill(GM_ADDR at, Stored bits) {
    AscendC::GlobalTensor<Stored> array;
    array.SetGlobalBuffer(reinterpret_cast<__gm__ Stored*>(at), (count_ + kBlock - 1) / kBlock * kBlock);
    AscendC::LocalTensor<Stored> tile = buffer_.template Get<Stored>();
    SyncPipes<AscendC::HardEvent::MTE3_V>(pipe_);  // the copies of the array before this one
    AscendC::Duplicate(tile, bits, kTile);
    SyncPipes<AscendC::HardEvent::V_MTE3>(pipe_);
    const uint32_t stride = static_cast<uint32_t>(AscendC::GetBlockNum()) * kTile;
    for (uint64_t first = static_cast<uint64_t>(AscendC::GetBlockIdx()) * kTile; first < count_; first += stride) {
      const uint64_t left = (count_ - first + kBlock - 1) / kBlock * kBlock;
      AscendC::DataCopy(array[first], tile, static_cast<uint32_t>(left < kTile ? left : kTile));
    }
  }

  AscendC::TPipe* pipe_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer_;
  GM_ADDR at_;
  uint32_t count_;
  bool filled_ = false;
};

#endif  // GN_TUTORIAL_CONSTANT_H_
