// RowMax: tiling, and the parse function that reads the chip once for all calls.
#include "row_max_tiling.h"
#include "log/log.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus TilingRowMax(gert::TilingContext* context) {
  const auto* info = context->GetCompileInfo<RowMaxCompileInfo>();
  OP_CHECK_NULL_WITH_CONTEXT(context, info);
  const gert::Shape& x = context->GetInputShape(0)->GetStorageShape();
  OP_CHECK_IF(x.GetDimNum() < 2, OP_LOGE(context, "x has %zu axes, at least 2 are needed", x.GetDimNum()),
              return ge::GRAPH_FAILED);
  RowMaxTilingData tiling;
  const int64_t inner = x.GetDim(x.GetDimNum() - 1);
  OP_CHECK_IF(inner <= 0 || static_cast<uint64_t>(inner) * 4 > info->ubBytes / 2,
              OP_LOGE(context->GetNodeName(), "a row of %ld floats does not fit", static_cast<long>(inner)),
              return ge::GRAPH_FAILED);
  const uint32_t rows = x.GetShapeSize() / inner;
  const uint32_t perBlock = (rows + info->cores - 1) / info->cores;
  tiling.set_inner(inner);
  tiling.part.set_rows(rows);
  tiling.part.set_perBlock(perBlock);
  int64_t shape[2] = {static_cast<int64_t>(rows), inner};
  tiling.set_shape(shape);
  context->SetBlockDim(perBlock == 0 ? 1 : (rows + perBlock - 1) / perBlock);
  context->SetTilingKey(inner >= 64 ? 20 : 10);
  tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
  size_t* workspaces = context->GetWorkspaceSizes(1);
  workspaces[0] = 0;
  return ge::GRAPH_SUCCESS;
}

static ge::graphStatus TilingPrepareRowMax(gert::TilingParseContext* context) {
  auto* info = context->GetCompiledInfo<RowMaxCompileInfo>();
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  info->cores = platform.GetCoreNumAiv();
  platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, info->ubBytes);
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(RowMax).Tiling(TilingRowMax).TilingParse<RowMaxCompileInfo>(TilingPrepareRowMax);
}  // namespace optiling
