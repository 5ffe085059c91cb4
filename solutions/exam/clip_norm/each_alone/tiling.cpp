static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  const uint64_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
  const uint64_t cores = chip.GetCoreNumAiv();
  const uint64_t share = (length + cores - 1) / cores;
  const uint64_t perBlock = share == 0 ? 16 : (share + 15) / 16 * 16;

  auto* tiling = context->GetTilingData<ClipNormTilingData>();
  tiling->length = length;
  tiling->perBlock = perBlock;
  tiling->limit = *context->GetAttrs()->GetAttrPointer<float>(0);
  context->SetBlockDim(length == 0 ? 1 : (length + perBlock - 1) / perBlock);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
