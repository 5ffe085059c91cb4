// ListScale: how many tensors there are.
#pragma once
#include <cstdint>

struct ListScaleTilingData {
  uint32_t tensors;
  float factor;
};
