// The tiling struct of RowBias as plain C++ (CANN 9.x), which host and kernel share.
#ifndef ROW_BIAS_TILING_H
#define ROW_BIAS_TILING_H
#include <cstdint>

constexpr uint32_t kMaxAxes = 3;

struct RowBiasSplit {
  uint32_t rowsPerBlock = 0;
  uint32_t rows = 0;
};

struct RowBiasTilingData {
  uint64_t lengths[kMaxAxes] = {};
  RowBiasSplit split;
  uint32_t inner, padded;
  float scale = 1.0f;
};
#endif
