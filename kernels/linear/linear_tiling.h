// y = x W^T + b and its gradients, how they are divided: the numbers that the kernels read, and the host functions that compute
// them.
//
// x and dx are (R, K), W and dW are (O, K), b and db are (O), y and dy are (R, O). Plain C++ without any Ascend C header: kernels,
// launch code, the twin and Python share it. Only 4-byte fields, an even number of them: CANN rounds the size of tiling data up to 8
// bytes.
#pragma once
#include <cstdint>

struct LinearTilingData {
  uint32_t rows;          // R: product of all axes of x but the last
  uint32_t inFeatures;    // K
  uint32_t outFeatures;   // O
  uint32_t rowTile;       // rows of x in a unit of work
  uint32_t outTile;       // and rows of W: the unit computes rowTile * outTile elements of y
  uint32_t outBlocks;     // units side by side
  uint32_t usedCores;     // blocks to launch
  uint32_t unitsPerCore;  // every core computes this many units,
  uint32_t extraUnits;    // and the first extraUnits cores one more
  uint32_t tilingKey;     // which code runs: the dtype of x, W, b and y as CANN numbers it
};

// The largest unit. Each of its elements has a line of 64 floats, one for each lane of a repeat: 8 * 32 lines take 64 KiB.
constexpr uint32_t kLinearRowTile = 8;
constexpr uint32_t kLinearOutTile = 32;
// The smallest: a row of the unit begins at a whole block of 32 bytes, which is 16 halves.
constexpr uint32_t kLinearLeastOutTile = 16;
// Columns of x and W in local memory at once: 32 rows of W take 32 KiB as floats, and there are two buffers of them.
constexpr uint32_t kLinearColumns = 256;

// dtype as CANN numbers it (ge::DataType): 0 float32, 1 float16, 27 bfloat16.
inline bool IsLinearDtype(int32_t dtype) { return dtype == 0 || dtype == 1 || dtype == 27; }

// Why x (r, k) and W (o, k) are refused, or nullptr. The distance from row to row is given to a copy in bytes, in 32 bits.
inline const char* RefuseLinear(int64_t r, int64_t k, int64_t o, int32_t cores, int32_t dtype) {
  constexpr int64_t kMostFeatures = int64_t{1} << 29;
  if (r < 0 || k < 0 || o < 0) return "a dimension is negative";
  if (cores <= 0) return "the number of cores must be positive";
  if (!IsLinearDtype(dtype)) return "x must be float32, float16 or bfloat16";
  if (k > kMostFeatures || o > kMostFeatures) return "more than 536870912 features: the weight is too wide";
  if (r > INT32_MAX) return "x has more than 2147483647 rows";
  return nullptr;
}

// Fills *tiling for x (r, k) and W (o, k), on at most `cores` cores. Returns nullptr, or the reason why these arguments are refused;
// *tiling is then untouched. Units become smaller until every core has one: the results are the same bits, because how the products
// of one element are added up does not depend on its unit.
inline const char* MakeLinearTiling(int64_t r, int64_t k, int64_t o, int32_t cores, int32_t dtype,
                                    LinearTilingData* tiling) {
  const char* refused = RefuseLinear(r, k, o, cores, dtype);
  if (refused != nullptr) return refused;
  const auto parts = [](int64_t whole, int64_t most) { return (whole + most - 1) / most; };
  int64_t row_tile = kLinearRowTile, out_tile = kLinearOutTile;
  while (row_tile > 1 && row_tile / 2 >= r) row_tile /= 2;
  const auto units = [&] { return parts(r, row_tile) * parts(o, out_tile); };
  if (units() < cores) out_tile = kLinearLeastOutTile;
  while (units() < cores && row_tile > 1) row_tile /= 2;
  if (units() > INT32_MAX) return "y has more than 2147483647 tiles of 8 rows and 32 columns";

  const int64_t used = units() < cores ? units() : cores;
  tiling->rows = static_cast<uint32_t>(r);
  tiling->inFeatures = static_cast<uint32_t>(k);
  tiling->outFeatures = static_cast<uint32_t>(o);
  tiling->rowTile = static_cast<uint32_t>(row_tile);
  tiling->outTile = static_cast<uint32_t>(out_tile);
  tiling->outBlocks = static_cast<uint32_t>(parts(o, out_tile));
  tiling->usedCores = static_cast<uint32_t>(used);
  tiling->unitsPerCore = used == 0 ? 0 : static_cast<uint32_t>(units() / used);
  tiling->extraUnits = used == 0 ? 0 : static_cast<uint32_t>(units() % used);
  tiling->tilingKey = static_cast<uint32_t>(dtype);
  return nullptr;
}

// Bits of what the fused kernels write: y, and h = x W^T + b for the backward pass.
constexpr uint32_t kLinearWantResult = 1;
constexpr uint32_t kLinearWantSaved = 2;

// The gradients.
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
  // Without a column there is no dW, but there is a db.
  const bool dx = (mask & kLinearWantDx) != 0, weight = (mask & kLinearWantWeight) != 0 && k > 0;
  const bool parameters = weight || (mask & kLinearWantBias) != 0;
  const int64_t columns = parts(k, kLinearBackwardColumns);
  const int64_t weight_blocks = weight ? columns : 1;
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
