// int4b_t: two integers from -8 to 7 in a byte, the first one in its low half. A tensor of them counts integers; a
// pointer to them counts bytes.
//
// Source: docs/zh/api, 数据结构/内置数据类型; 类型转换/Cast. Which half comes first is a choice (docs/hardware-choices.md).
#pragma once
#include "gn_twin/base/float16.h"

namespace AscendC {
struct int4b_t {
  uint8_t pair;
};
}  // namespace AscendC

namespace gn_twin {

template <class T>
inline constexpr uint32_t kPerByte = kSame<T, AscendC::int4b_t> ? 2 : 1;

// BytesOf returns the bytes of a number of elements, rounded up; ElementsIn returns how many elements a number of bytes
// holds.
template <class T>
constexpr uint64_t BytesOf(uint64_t elements) {
  return (elements * sizeof(T) + kPerByte<T> - 1) / kPerByte<T>;
}
template <class T>
constexpr uint64_t ElementsIn(uint64_t bytes) {
  return bytes * kPerByte<T> / sizeof(T);
}

}  // namespace gn_twin
