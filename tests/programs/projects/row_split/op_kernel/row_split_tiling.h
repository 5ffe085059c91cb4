// RowSplit: how many tensors x is divided among, and whether the caller wants their ends.
#pragma once
#include <cstdint>

struct RowSplitTilingData {
  uint32_t tensors;
  uint32_t wantsEnds;
};
