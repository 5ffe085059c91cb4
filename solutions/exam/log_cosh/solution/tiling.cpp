// Half in, half out, both twice, and two floats: bytes of the Unified Buffer an element.
constexpr uint64_t kBytesOfElement = 2 * 2 + 2 * 2 + 4 + 4;

static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  uint64_t ub = 0;
  chip.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);
  const uint32_t cores = chip.GetCoreNumAiv();
  const uint32_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
  const uint32_t units = (length + 15) / 16;  // blocks of 32 bytes
  const uint32_t unitsPerBlock = units <= cores ? 1 : (units + cores - 1) / cores;

  auto* tiling = context->GetTilingData<LogCoshTilingData>();
  tiling->length = length;
  tiling->perBlock = unitsPerBlock * 16;
  tiling->tile = ub / kBytesOfElement / 64 * 64;
  context->SetBlockDim(units == 0 ? 1 : (units + unitsPerBlock - 1) / unitsPerBlock);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
