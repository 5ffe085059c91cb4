// RMSNorm and its gradients, how they are divided: the numbers that the two kernels read, and the host functions that compute them.
//
// x, y, dy and dx are (R, K), gamma and dgamma are (K), rstd is (R). Plain C++ without any Ascend C header: the kernel, launch code, the twin and Python
// share it. Only 4-byte fields, an even number of them: CANN rounds the size of tiling data up to 8 bytes.
#pragma once
#include <cstdint>

struct RmsNormTilingData {
  uint32_t rows;         // R: product of all axes of x but the last
  uint32_t length;       // K
  uint32_t usedCores;    // blocks to launch
  uint32_t rowsPerCore;  // every core normalises this many rows,
  uint32_t extraRows;    // and the first extraRows cores one more
  uint32_t tilingKey;    // which code runs: the dtype of x, gamma and y as CANN numbers it (ge::DataType)
  float eps;
  float inverseLength;  // 1 / K
};

// Fills *tiling for x (r, k), on at most `cores` cores. Returns nullptr, or the reason why these arguments are refused; *tiling is then
// untouched.
inline const char* MakeRmsNormTiling(int64_t r, int64_t k, float eps, int32_t cores, int32_t dtype,
                                     RmsNormTilingData* tiling) {
  if (r < 0 || k < 0) return "a dimension of x is negative";
  if (k == 0 && r > 0) return "the last axis of x has length 0: a row without elements has no mean";
  if (!(eps > 0.0f)) return "eps must be greater than zero";
  if (cores <= 0) return "the number of cores must be positive";
  if (dtype != 0 && dtype != 1 && dtype != 27) return "x must be float32, float16 or bfloat16";
  if (r > INT32_MAX || k > INT32_MAX) return "x has more than 2147483647 rows or columns";

  const int64_t used = r < cores ? r : cores;
  tiling->rows = static_cast<uint32_t>(r);
  tiling->length = static_cast<uint32_t>(k);
  tiling->usedCores = static_cast<uint32_t>(used);
  tiling->rowsPerCore = used == 0 ? 0 : static_cast<uint32_t>(r / used);
  tiling->extraRows = used == 0 ? 0 : static_cast<uint32_t>(r % used);
  tiling->tilingKey = static_cast<uint32_t>(dtype);
  tiling->eps = eps;
  tiling->inverseLength = k == 0 ? 0.0f : static_cast<float>(1.0 / static_cast<double>(k));
  return nullptr;
}

// The gradients. Rows are taken together in chunks: a chunk has a line of K floats in the workspace, its share of dgamma. What is in a
// chunk depends on R, K and the dtype alone, so that no sum knows how many cores there are.
struct RmsNormBackwardTilingData {
  uint32_t rows;    // R
  uint32_t length;  // K
  uint32_t
      usedCores;  // blocks to launch: core c works on chunks c, c + usedCores, ... and then on columns in the same way
  uint32_t chunkRows;       // rows of a chunk; the last one may have fewer
  uint32_t chunks;          // lines of the workspace
  uint32_t tileRows;        // rows of a tile: 1 if a row is longer than a tile
  uint32_t parts;           // tiles of a row, 1 if rows are shorter
  uint32_t columns;         // runs of kRmsNormBackwardColumns elements of dgamma
  uint32_t workspaceBytes;  // of all lines
  uint32_t tilingKey;       // which code runs: the dtype of dy, x, gamma and dx as CANN numbers it
  float inverseLength;      // 1 / K
  uint32_t reserved;        // an even number of fields
};

// Elements of a tile. Two tiles of dy and x, two of dx, one each of gamma, of the sums for dgamma and of products, as floats, are 147 KB.
constexpr uint32_t kRmsNormBackwardTile = 4096;
// Rows of a chunk at most: their rstd stay in local memory as blocks of eight.
constexpr uint32_t kRmsNormBackwardRows = 128;
// Chunks: as many as 40, 48, 24 and 20 cores divide evenly, with some to spare. More of them would be more lines to write and to add up.
constexpr uint32_t kRmsNormBackwardChunks = 240;
// A chunk is no smaller than this, in elements: what is fixed for a tile would take longer than its elements do.
constexpr uint32_t kRmsNormBackwardLeast = 1024;
// What the second stage adds up at once: so many columns of so many lines are 16 KB.
constexpr uint32_t kRmsNormBackwardColumns = 128;
constexpr uint32_t kRmsNormBackwardLines = 32;

// Fills *tiling for dy and x (r, k), on at most `cores` cores. Returns nullptr, or the reason why these arguments are refused; *tiling is
// then untouched. Without a row (r = 0) dgamma is zeros, which somebody has to write.
inline const char* MakeRmsNormBackwardTiling(int64_t r, int64_t k, int32_t cores, int32_t dtype,
                                             RmsNormBackwardTilingData* tiling) {
  if (r < 0 || k < 0) return "a dimension of x is negative";
  if (k == 0 && r > 0) return "the last axis of x has length 0: a row without elements has no mean";
  if (cores <= 0) return "the number of cores must be positive";
  if (dtype != 0 && dtype != 1 && dtype != 27) return "x must be float32, float16 or bfloat16";
  if (r > INT32_MAX) return "x has more than 2147483647 rows";
  // From line to line of the workspace a copy goes on by 4 K bytes, in 32 bits.
  if (k > INT32_MAX / 4) return "x has more than 536870911 columns";
  const auto parts = [](int64_t whole, int64_t most) { return (whole + most - 1) / most; };
  int64_t chunk_rows = parts(r, kRmsNormBackwardChunks);
  if (k > 0 && chunk_rows * k < kRmsNormBackwardLeast) chunk_rows = parts(kRmsNormBackwardLeast, k);
  // Sizes are counted in 32 bits: long rows share a line with more of their neighbours.
  while (chunk_rows < kRmsNormBackwardRows && parts(r, chunk_rows) * k > INT32_MAX / 4) chunk_rows *= 2;
  if (chunk_rows > kRmsNormBackwardRows) chunk_rows = kRmsNormBackwardRows;
  const int64_t chunks = chunk_rows == 0 ? 0 : parts(r, chunk_rows);
  if (k > 0 && chunks > INT32_MAX / 4 / k) return "x has more than 2^36 elements";

  // Rows begin at whole blocks of 32 bytes in local memory.
  const int64_t block = dtype == 0 ? 8 : 16, pitch = parts(k, block) * block;
  int64_t tile_rows = pitch == 0 ? 1 : kRmsNormBackwardTile / pitch;
  if (tile_rows > chunk_rows) tile_rows = chunk_rows;
  if (tile_rows < 1) tile_rows = 1;
  const int64_t columns = parts(k, kRmsNormBackwardColumns), most = chunks > columns ? chunks : columns;
  tiling->rows = static_cast<uint32_t>(r);
  tiling->length = static_cast<uint32_t>(k);
  tiling->usedCores = static_cast<uint32_t>(most < cores ? most : cores);
  tiling->chunkRows = static_cast<uint32_t>(chunk_rows);
  tiling->chunks = static_cast<uint32_t>(chunks);
  tiling->tileRows = static_cast<uint32_t>(tile_rows);
  tiling->parts = static_cast<uint32_t>(parts(k, kRmsNormBackwardTile));
  tiling->columns = static_cast<uint32_t>(columns);
  tiling->workspaceBytes = static_cast<uint32_t>(chunks * k * static_cast<int64_t>(sizeof(float)));
  tiling->tilingKey = static_cast<uint32_t>(dtype);
  tiling->inverseLength = k == 0 ? 0.0f : static_cast<float>(1.0 / static_cast<double>(k));
  tiling->reserved = 0;
  return nullptr;
}
