static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  const gert::Shape& x = context->GetInputShape(0)->GetStorageShape();
  const gert::RuntimeAttrs* attributes = context->GetAttrs();
  const size_t last = x.GetDimNum() - 1;
  uint32_t rows = 1;
  for (size_t axis = 0; axis < last; ++axis) rows *= x.GetDim(axis);
  const uint32_t length = x.GetDim(last), cores = chip.GetCoreNumAiv();

  auto* tiling = context->GetTilingData<RowStandardTilingData>();
  tiling->rows = rows;
  tiling->length = length;
  tiling->inverse = 1.0f / length;
  tiling->eps = *attributes->GetAttrPointer<float>(0);
  context->SetBlockDim(rows == 0 ? 1 : (rows < cores ? rows : cores));
  size_t* sizes = context->GetWorkspaceSizes(1);
  sizes[0] = 0;
  return ge::GRAPH_SUCCESS;
}
