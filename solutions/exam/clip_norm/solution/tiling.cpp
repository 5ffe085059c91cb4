// x and y twice, two floats; and what is reserved for the sums of all blocks.
constexpr uint64_t kBytesOfElement = 2 * 2 + 2 * 2 + 4 + 4;
constexpr uint64_t kReserved = 8192;
// Of the workspace, for a block: 32 bytes, so that no two share a unit.
constexpr uint64_t kBytesOfSum = 32;

static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  uint64_t ub = 0;
  chip.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);
  const uint32_t cores = chip.GetCoreNumAiv();
  const uint32_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
  const uint32_t units = (length + 15) / 16;
  const uint32_t unitsPerBlock = units <= cores ? 1 : (units + cores - 1) / cores;
  const uint32_t blocks = units == 0 ? 1 : (units + unitsPerBlock - 1) / unitsPerBlock;

  auto* tiling = context->GetTilingData<ClipNormTilingData>();
  tiling->length = length;
  tiling->perBlock = unitsPerBlock * 16;
  tiling->tile = (ub - kReserved) / kBytesOfElement / 64 * 64;
  tiling->blocks = blocks;
  tiling->limit = *context->GetAttrs()->GetFloat(0);
  context->SetBlockDim(blocks);
  context->SetScheduleMode(1);
  const uint64_t own = blocks * kBytesOfSum;
  context->GetWorkspaceSizes(1)[0] = chip.GetLibApiWorkSpaceSize() + own;
  return ge::GRAPH_SUCCESS;
}
