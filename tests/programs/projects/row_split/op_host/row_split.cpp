// RowSplit, x divided among a list of outputs, twice as large: an operator whose outputs are a list and one that may be left out.
#include "../op_kernel/row_split_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace {
constexpr size_t kTensors = 0, kEnds = 1;  // outputs of the definition
constexpr int64_t kMost = 4096;
}  // namespace

namespace optiling {
static ge::graphStatus Tile(gert::TilingContext* context) {
  const auto* tensors = context->GetIrOutputInstanceInfo(kTensors);
  const auto* ends = context->GetIrOutputInstanceInfo(kEnds);
  int64_t elements = 0;
  for (size_t index = 0; index < tensors->GetInstanceNum(); ++index) {
    const auto* shape = context->GetOutputShape(tensors->GetInstanceStart() + index);
    elements += shape->GetStorageShape().GetShapeSize();
    if (shape->GetStorageShape().GetShapeSize() > kMost) return ge::GRAPH_FAILED;
  }
  if (elements != context->GetInputShape(0)->GetStorageShape().GetShapeSize()) return ge::GRAPH_FAILED;
  RowSplitTilingData* tiling = context->GetTilingData<RowSplitTilingData>();
  tiling->tensors = tensors->GetInstanceNum();
  tiling->wantsEnds = ends != nullptr && ends->GetInstanceNum() != 0;
  context->SetBlockDim(tiling->tensors < 8 ? tiling->tensors : 8);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus InferShape(gert::InferShapeContext* context) {
  const auto* tensors = context->GetIrOutputInstanceInfo(kTensors);
  const int64_t each = context->GetInputShape(0)->GetDim(0) / static_cast<int64_t>(tensors->GetInstanceNum());
  for (size_t index = 0; index < tensors->GetInstanceNum(); ++index) {
    *context->GetOutputShape(tensors->GetInstanceStart() + index) = gert::Shape({each});
  }
  const auto* ends = context->GetIrOutputInstanceInfo(kEnds);
  if (ends != nullptr && ends->GetInstanceNum() != 0) {
    *context->GetOutputShape(ends->GetInstanceStart()) = gert::Shape({static_cast<int64_t>(tensors->GetInstanceNum())});
  }
  return GRAPH_SUCCESS;
}
static graphStatus InferDataType(gert::InferDataTypeContext* context) {
  const size_t tensors = context->GetIrOutputInstanceInfo(kTensors)->GetInstanceNum();
  for (size_t index = 0; index < context->GetComputeNodeOutputNum(); ++index) {
    context->SetOutputDataType(index, index < tensors ? context->GetInputDataType(0) : ge::DT_INT32);
  }
  return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class RowSplit : public OpDef {
 public:
  explicit RowSplit(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Output("y").ParamType(DYNAMIC).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Output("ends").ParamType(OPTIONAL).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
    this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
    this->AICore().SetTiling(optiling::Tile).AddConfig("ascend910b");
  }
};
OP_ADD(RowSplit);
}  // namespace ops
