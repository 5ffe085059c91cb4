// RMSNorm, how it is divided: the numbers that the kernel reads, and the host function that computes them.
//
// x and y are (R, K), gamma is (K), rstd is (R). Plain C++ without any Ascend C header: the kernel, launch code, the twin and Python
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
