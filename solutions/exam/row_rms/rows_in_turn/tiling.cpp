static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  const gert::Shape& x = context->GetInputShape(0)->GetStorageShape();
  uint32_t rows = 1;
  for (size_t axis = 0; axis + 1 < x.GetDimNum(); ++axis) rows *= x.GetDim(axis);
  const uint32_t cores = chip.GetCoreNumAiv();

  auto* tiling = context->GetTilingData<RowRmsTilingData>();
  tiling->rows = rows;
  tiling->length = x.GetDim(x.GetDimNum() - 1);
  context->SetBlockDim(rows < cores ? (rows == 0 ? 1 : rows) : cores);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
