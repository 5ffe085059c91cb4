// RowMax: the tiling struct, and what its compile information holds.
#pragma once
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(RowMaxPart)
TILING_DATA_FIELD_DEF(uint32_t, rows);
TILING_DATA_FIELD_DEF(uint32_t, perBlock);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(RowMaxPartOp, RowMaxPart)

BEGIN_TILING_DATA_DEF(RowMaxTilingData)
TILING_DATA_FIELD_DEF(uint32_t, inner);
TILING_DATA_FIELD_DEF_STRUCT(RowMaxPart, part);
TILING_DATA_FIELD_DEF_ARR(int64_t, 2, shape);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(RowMax, RowMaxTilingData)

struct RowMaxCompileInfo {
  uint32_t cores = 0;
  uint64_t ubBytes = 0;
};
}  // namespace optiling
