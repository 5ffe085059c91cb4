static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  const uint64_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
  const uint64_t units = (length + 15) / 16;
  uint64_t blocks = chip.GetCoreNumAiv();
  if (units < blocks) blocks = units;
  if (blocks == 0) blocks = 1;

  auto* tiling = context->GetTilingData<LogCoshTilingData>();
  tiling->length = length;
  size_t* sizes = context->GetWorkspaceSizes(1);
  sizes[0] = 0;
  context->SetBlockDim(blocks);
  return ge::GRAPH_SUCCESS;
}
