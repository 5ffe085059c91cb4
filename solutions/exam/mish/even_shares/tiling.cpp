// Blocks get 512 bytes at least: fewer cores start for a short tensor.
constexpr uint64_t kLeastBytes = 512;

static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  const uint64_t cores = chip.GetCoreNumAiv();
  const uint64_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
  const uint64_t size = ge::GetSizeByDataType(context->GetInputDesc(0)->GetDataType());
  uint64_t bytes = (length * size + cores - 1) / cores;
  if (bytes < kLeastBytes) bytes = kLeastBytes;
  const uint64_t perBlock = (bytes + 31) / 32 * 32 / size;

  auto* tiling = context->GetTilingData<MishTilingData>();
  tiling->length = length;
  tiling->perBlock = perBlock;
  const uint64_t blocks = (length + perBlock - 1) / perBlock;
  context->SetBlockDim(blocks == 0 ? 1 : blocks);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
