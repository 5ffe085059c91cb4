// How the rows of MyRmsNorm are divided: the numbers that the kernel reads, and the
// host function that computes them. Plain C++.
#pragma once
#include <cstdint>

// Floats of a tile.
constexpr int64_t kMyRmsNormTile = 4096;

// Fields of four bytes, an even number of them: CANN rounds the size of tiling data up
// to eight bytes.
struct MyRmsNormTilingData {
  uint32_t rows;         // product of all axes of x but the last
  uint32_t length;       // elements of a row
  uint32_t usedCores;    // blocks to launch
  uint32_t rowsPerCore;  // every block has so many rows,
  uint32_t extraRows;    // and the first extraRows blocks one more
  uint32_t dtype;        // of x, as CANN numbers it: 0 float32, 1 float16
  uint32_t pitch;        // floats from a row to the next in local memory, or of a tile
  uint32_t tileRows;     // rows of a tile; 0 if a row is longer than one
  float eps;
  uint32_t reserved;
};

// Fills *tiling for x (rows, length), on at most `cores` cores. Returns nullptr, or the
// reason why these arguments are refused.
inline const char* MakeMyRmsNormTiling(int64_t rows, int64_t length, float eps,
                                       int32_t cores, int32_t dtype,
                                       MyRmsNormTilingData* tiling) {
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
  const int64_t block = dtype == 0 ? 8 : 16,
                pitch = (length + block - 1) / block * block;
  const int64_t most = (rows + used - 1) / used, fit = kMyRmsNormTile / pitch;
  int64_t tile_rows = fit < most ? fit : most;
  if (tile_rows > 128) tile_rows = 128;
  tiling->pitch = static_cast<uint32_t>(fit == 0 ? kMyRmsNormTile : pitch);
  tiling->tileRows = static_cast<uint32_t>(tile_rows);
  return nullptr;
}
