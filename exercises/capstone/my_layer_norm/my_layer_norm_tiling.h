// How the rows of MyLayerNorm are divided: the numbers that the kernel reads, and the
// host function that computes them. Plain C++.
#pragma once
#include <cstdint>

// Fields of four bytes, an even number of them: CANN rounds the size of tiling data up
// to eight bytes.
struct MyLayerNormTilingData {
  uint32_t rows;         // product of all axes of x but the last
  uint32_t length;       // elements of a row
  uint32_t usedCores;    // blocks to launch
  uint32_t rowsPerCore;  // every block has so many rows,
  uint32_t extraRows;    // and the first extraRows blocks one more
  uint32_t dtype;        // of x, as CANN numbers it: 0 float32, 1 float16
  float eps;
  uint32_t reserved;
};

// Fills *tiling for x (rows, length), on at most `cores` cores. Returns nullptr, or the
// reason why these arguments are refused.
inline const char* MakeMyLayerNormTiling(int64_t rows, int64_t length, float eps,
                                         int32_t cores, int32_t dtype,
                                         MyLayerNormTilingData* tiling) {
  if (rows < 1 || length < 1) return "x has no elements";
  if (rows > INT32_MAX || length > INT32_MAX)
    return "x has more than 2147483647 rows or columns";
  if (!(eps > 0.0f)) return "eps must be greater than zero";
  const int64_t used = rows < cores ? rows : cores;
  tiling->rows = static_cast<uint32_t>(rows);
  tiling->length = static_cast<uint32_t>(length);
  tiling->usedCores = static_cast<uint32_t>(used);
  tiling->rowsPerCore = static_cast<uint32_t>(rows / used);
  tiling->extraRows = static_cast<uint32_t>(rows % used);
  tiling->dtype = static_cast<uint32_t>(dtype);
  tiling->eps = eps;
  tiling->reserved = 0;
  return nullptr;
}
