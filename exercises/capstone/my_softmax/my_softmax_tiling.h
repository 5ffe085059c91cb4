// How the rows of MySoftmax are divided: the numbers that the kernel reads, and the
// host function that computes them. Plain C++.
#pragma once
#include <cstdint>

// Fields of four bytes, an even number of them: CANN rounds the size of tiling data up
// to eight bytes.
struct MySoftmaxTilingData {
  uint32_t rows;         // product of all axes of x but the last
  uint32_t length;       // elements of a row
  uint32_t usedCores;    // blocks to launch
  uint32_t rowsPerCore;  // every block has so many rows,
  uint32_t extraRows;    // and the first extraRows blocks one more
  uint32_t dtype;        // of x, as CANN numbers it: 0 float32, 1 float16
};

// Fills *tiling for x (rows, length), on at most `cores` cores. Returns nullptr, or the
// reason why these arguments are refused.
inline const char* MakeMySoftmaxTiling(int64_t rows, int64_t length, int32_t cores,
                                       int32_t dtype, MySoftmaxTilingData* tiling) {
  if (rows < 1 || length < 1) return "x has no elements";
  if (rows > INT32_MAX || length > INT32_MAX)
    return "x has more than 2147483647 rows or columns";
  const int64_t used = rows < cores ? rows : cores;
  tiling->rows = static_cast<uint32_t>(rows);
  tiling->length = static_cast<uint32_t>(length);
  tiling->usedCores = static_cast<uint32_t>(used);
  tiling->rowsPerCore = static_cast<uint32_t>(rows / used);
  tiling->extraRows = static_cast<uint32_t>(rows % used);
  tiling->dtype = static_cast<uint32_t>(dtype);
  return nullptr;
}
