static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  uint64_t ub = 0;
  chip.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);
  const uint32_t cores = chip.GetCoreNumAiv();
  const uint32_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
  const bool wide = context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT;
  const uint32_t size = wide ? 4 : 2, unit = 32 / size;
  const uint32_t units = (length + unit - 1) / unit;
  const uint32_t unitsPerBlock = units <= cores ? 1 : (units + cores - 1) / cores;

  auto* tiling = context->GetTilingData<MishTilingData>();
  tiling->length = length;
  tiling->perBlock = unitsPerBlock * unit;
  // x and y twice, and two floats.
  tiling->tile = ub / (2 * size + 2 * size + 8) / 64 * 64;
  context->SetBlockDim(units == 0 ? 1 : (units + unitsPerBlock - 1) / unitsPerBlock);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
