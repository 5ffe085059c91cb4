// ListScale, each tensor of a list times a number: definition, shapes and tiling of an operator with dynamic parameters.
#include "../op_kernel/list_scale_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus Tile(gert::TilingContext* context) {
  const uint32_t tensors = context->GetComputeNodeInputNum();
  for (uint32_t index = 0; index < tensors; ++index) {
    if (context->GetDynamicInputShape(0, index)->GetStorageShape().GetShapeSize() > 4096) return ge::GRAPH_FAILED;
  }
  ListScaleTilingData* tiling = context->GetTilingData<ListScaleTilingData>();
  tiling->tensors = tensors;
  tiling->factor = *context->GetAttrs()->GetFloat(0);
  context->SetBlockDim(tensors < 40 ? tensors : 40);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus InferShape(gert::InferShapeContext* context) {
  for (size_t index = 0; index < context->GetComputeNodeOutputNum(); ++index) {
    *context->GetOutputShape(index) = *context->GetDynamicInputShape(0, index);
  }
  return GRAPH_SUCCESS;
}
static graphStatus InferDataType(gert::InferDataTypeContext* context) {
  for (size_t index = 0; index < context->GetComputeNodeOutputNum(); ++index) {
    context->SetOutputDataType(index, context->GetDynamicInputDataType(0, index));
  }
  return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class ListScale : public OpDef {
 public:
  explicit ListScale(const char* name) : OpDef(name) {
    this->Input("x").ParamType(DYNAMIC).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Output("y").ParamType(DYNAMIC).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Attr("factor").AttrType(OPTIONAL).Float(2.0);
    this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
    this->AICore().SetTiling(optiling::Tile).AddConfig("ascend910b");
  }
};
OP_ADD(ListScale);
}  // namespace ops
