static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  const uint32_t cores = chip.GetCoreNumAiv();
  const uint32_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
  const uint32_t row = context->GetInputShape(1)->GetStorageShape().GetShapeSize();
  const uint32_t rows = row == 0 ? 0 : length / row;
  const uint32_t rowBlocks = rows < cores ? (rows == 0 ? 1 : rows) : cores;
  const uint32_t rowsOfBlock = rows == 0 ? 1 : (rows + rowBlocks - 1) / rowBlocks;
  // Cores that no row needs share the columns; 16 elements are whole units of every type.
  const uint32_t columnBlocks = cores / rowBlocks;
  uint32_t columns = (row + columnBlocks - 1) / columnBlocks;
  columns = (columns + 15) / 16 * 16;
  if (columns == 0) columns = 16;

  auto* tiling = context->GetTilingData<RelDiffTilingData>();
  tiling->rows = rows;
  tiling->row = row;
  tiling->rowBlocks = rows == 0 ? 1 : (rows + rowsOfBlock - 1) / rowsOfBlock;
  tiling->rowsOfBlock = rowsOfBlock;
  tiling->columnsOfBlock = columns;
  const uint32_t across = row == 0 ? 1 : (row + columns - 1) / columns;
  const uint32_t down = rows == 0 ? 1 : (rows + rowsOfBlock - 1) / rowsOfBlock;
  context->SetBlockDim(across * down);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
