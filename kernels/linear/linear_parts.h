// What all kernels of Linear need: tiles of matrices, to local memory and back.
//
// A tile has `count` rows of `length` elements. In global memory rows are `width` elements apart; in local memory each begins at a
// whole block of 32 bytes.
#pragma once
#include "../common/common_dtype.h"

template <class T>
constexpr uint32_t kBlockElements = 32 / sizeof(T);

// How far apart the rows of a tile are in local memory, in elements.
template <class T>
__aicore__ inline uint32_t PitchOf(uint32_t length) {
  return (length + kBlockElements<T> - 1) / kBlockElements<T> * kBlockElements<T>;
}

template <class T>
__aicore__ inline void CopyTileIn(const AscendC::LocalTensor<T>& to, const AscendC::GlobalTensor<T>& from, uint64_t at,
                                  uint32_t count, uint32_t length, uint32_t width) {
  AscendC::DataCopyExtParams tile{static_cast<uint16_t>(count), static_cast<uint32_t>(length * sizeof(T)),
                                  static_cast<uint32_t>((width - length) * sizeof(T)), 0, 0};
  AscendC::DataCopyPadExtParams<T> pad{false, 0, 0, static_cast<T>(0.0f)};
  AscendC::DataCopyPad(to, from[at], tile, pad);
}

// pitch: of `from`, in elements; whole blocks.
template <class T>
__aicore__ inline void CopyTileOut(const AscendC::GlobalTensor<T>& to, uint64_t at, const AscendC::LocalTensor<T>& from,
                                   uint32_t count, uint32_t length, uint32_t width, uint32_t pitch) {
  const uint32_t gap = (pitch - PitchOf<T>(length)) / kBlockElements<T>;
  AscendC::DataCopyExtParams tile{static_cast<uint16_t>(count), static_cast<uint32_t>(length * sizeof(T)), gap,
                                  static_cast<uint32_t>((width - length) * sizeof(T)), 0};
  AscendC::DataCopyPad(to[at], from, tile);
}

// What leaves a sum is rounded once, from float to T.
template <class T>
__aicore__ inline void RoundOnce(const AscendC::LocalTensor<T>& to, const AscendC::LocalTensor<float>& from,
                                 uint32_t count) {
  if constexpr (kIsFloat<T>) {
    AscendC::Muls(to, from, 1.0f, static_cast<int32_t>(count));
  } else {
    Narrow(to, from, count);
  }
}
