// The gradients of y = x W^T + b, how they are divided: the numbers that the kernel reads, and the host function that computes them.
//
// dy is (R, O), x and dx are (R, K), W and dW are (O, K), db is (O). Plain C++ without any Ascend C header, as linear_tiling.h.
#pragma once
#include "linear_tiling.h"

struct LinearBackwardTilingData {
  uint32_t rows;          // R: product of all axes of x but the last
  uint32_t inFeatures;    // K
  uint32_t outFeatures;   // O
  uint32_t mask;          // which gradients are wanted, as bits; the others are neither computed nor written
  uint32_t tileRows;      // a unit has this many rows of dx or of dW, and kLinearBackwardColumns columns
  uint32_t dxUnits;       // units of dx, 0 if it is not wanted;
  uint32_t weightUnits;   // then those of dW, of which the first in each row of units has db, too
  uint32_t dxBlocks;      // units side by side
  uint32_t weightBlocks;  // 1 if db is wanted and dW is not
  uint32_t usedCores;     // blocks to launch: core c computes units c, c + usedCores, ...
  uint32_t tilingKey;     // which code runs: the dtype of all tensors as CANN numbers it
  uint32_t reserved;      // an even number of fields
};

// Bits of the mask.
constexpr uint32_t kLinearWantDx = 1;
constexpr uint32_t kLinearWantWeight = 2;
constexpr uint32_t kLinearWantBias = 4;

// The largest unit is 32 rows of 128 floats, 16 KiB. Terms are added up 32 at a time, and then to the sum so far: of two terms in a
// long sum the second does not lose what a float of the size of the whole sum cannot hold.
constexpr uint32_t kLinearBackwardRows = 32;
constexpr uint32_t kLinearBackwardColumns = 128;
constexpr uint32_t kLinearBackwardTerms = 32;

// Fills *tiling for dy (r, o), x (r, k) and W (o, k), on at most `cores` cores. Returns nullptr, or the reason why these arguments are
// refused; *tiling is then untouched. Without a row (r = 0) dW and db are zeros, which somebody has to write.
inline const char* MakeLinearBackwardTiling(int64_t r, int64_t k, int64_t o, int32_t cores, int32_t mask, int32_t dtype,
                                            LinearBackwardTilingData* tiling) {
  const char* refused = RefuseLinear(r, k, o, cores, dtype);
  if (refused != nullptr) return refused;
  if (mask < 0 || mask > 7) return "output_mask has three bits";
  const auto parts = [](int64_t whole, int64_t most) { return (whole + most - 1) / most; };
  const bool dx = (mask & kLinearWantDx) != 0, weight = (mask & kLinearWantWeight) != 0;
  const bool parameters = weight || (mask & kLinearWantBias) != 0;
  const int64_t columns = parts(k, kLinearBackwardColumns);
  // Without a column there is no dW, but there is a db.
  const int64_t weight_blocks = weight && columns > 0 ? columns : 1;
  int64_t tile = kLinearBackwardRows;
  const auto dx_units = [&] { return dx ? parts(r, tile) * columns : 0; };
  const auto weight_units = [&] { return parameters ? parts(o, tile) * weight_blocks : 0; };
  while (dx_units() + weight_units() < cores && tile > 4) tile /= 2;
  const int64_t units = dx_units() + weight_units();
  if (units > INT32_MAX) return "the gradients have more than 2147483647 tiles of 32 rows and 128 columns";

  tiling->rows = static_cast<uint32_t>(r);
  tiling->inFeatures = static_cast<uint32_t>(k);
  tiling->outFeatures = static_cast<uint32_t>(o);
  tiling->mask = static_cast<uint32_t>(mask);
  tiling->tileRows = static_cast<uint32_t>(tile);
  tiling->dxUnits = static_cast<uint32_t>(dx_units());
  tiling->weightUnits = static_cast<uint32_t>(weight_units());
  tiling->dxBlocks = static_cast<uint32_t>(columns);
  tiling->weightBlocks = static_cast<uint32_t>(weight_blocks);
  tiling->usedCores = static_cast<uint32_t>(units < cores ? units : cores);
  tiling->tilingKey = static_cast<uint32_t>(dtype);
  tiling->reserved = 0;
  return nullptr;
}
