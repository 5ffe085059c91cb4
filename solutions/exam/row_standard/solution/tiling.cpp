static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  const uint32_t cores = chip.GetCoreNumAiv();
  const gert::Shape& x = context->GetInputShape(0)->GetStorageShape();
  const uint32_t length = x.GetDim(x.GetDimNum() - 1);
  const uint32_t rows = length == 0 ? 0 : x.GetShapeSize() / length;
  const uint32_t rowsPerBlock = rows <= cores ? 1 : (rows + cores - 1) / cores;

  auto* tiling = context->GetTilingData<RowStandardTilingData>();
  tiling->rows = rows;
  tiling->length = length;
  tiling->rowsPerBlock = rowsPerBlock;
  tiling->eps = *context->GetAttrs()->GetFloat(0);
  context->SetBlockDim(rows == 0 ? 1 : (rows + rowsPerBlock - 1) / rowsPerBlock);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
