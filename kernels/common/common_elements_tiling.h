// On how many blocks a kernel of common_elements.h is launched. It has no tiling struct: its blocks find their shares themselves, from
// the number of elements, which it gets as a number. Plain C++ without any Ascend C header: the kernel and the host API share it.
#pragma once
#include <cstdint>

// Shares are whole lines of the L2 cache, in bytes: two cores do not write into one.
constexpr uint32_t kElementsLine = 512;

// Sets *blocks for n elements of itemBytes bytes: at most `cores`, no more than there are lines, 0 without an element. Returns nullptr,
// or why these arguments are refused; *blocks is then untouched. The kernel counts in 32 bits and goes beyond n by up to a line.
inline const char* MakeElementsBlocks(int64_t n, uint32_t itemBytes, int32_t cores, uint32_t* blocks) {
  if (n < 0) return "a number of elements is negative";
  if (cores <= 0) return "the number of cores must be positive";
  if (n > INT32_MAX) return "more than 2147483647 elements";
  const uint64_t lines = (static_cast<uint64_t>(n) * itemBytes + kElementsLine - 1) / kElementsLine;
  *blocks = static_cast<uint32_t>(lines < static_cast<uint64_t>(cores) ? lines : static_cast<uint64_t>(cores));
  return nullptr;
}
