// A piece of a row: half twice, itself as float, and the sums of its lanes.
constexpr uint64_t kBytesOfElement = 2 * 2 + 4 + 4;
// Results and what ReduceSum works in.
constexpr uint64_t kReserved = 16384;

static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  uint64_t ub = 0;
  chip.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);
  const uint32_t cores = chip.GetCoreNumAiv();
  const gert::Shape& x = context->GetInputShape(0)->GetStorageShape();
  const uint32_t length = x.GetDim(x.GetDimNum() - 1);
  const uint32_t rows = length == 0 ? 0 : x.GetShapeSize() / length;
  const uint32_t rowsPerBlock = rows <= cores ? 1 : (rows + cores - 1) / cores;
  const uint32_t most = (ub - kReserved) / kBytesOfElement / 64 * 64;
  const uint32_t padded = (length + 63) / 64 * 64;

  auto* tiling = context->GetTilingData<RowRmsTilingData>();
  tiling->rows = rows;
  tiling->length = length;
  tiling->rowsPerBlock = rowsPerBlock;
  tiling->chunk = padded < most ? padded : most;
  context->SetBlockDim(rows == 0 ? 1 : (rows + rowsPerBlock - 1) / rowsPerBlock);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
