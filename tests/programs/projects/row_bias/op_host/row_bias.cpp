// RowBias, y = x + bias for each row of x, the bias optional: definition, inference, tiling, in the layout of CANN 9.x.
#include "../op_kernel/row_bias_tiling.h"
#include "../op_kernel/tiling_key_row_bias.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const gert::Shape& x = context->GetInputShape(0)->GetStorageShape();
  if (x.GetDimNum() < 1 || x.GetDimNum() > kMaxAxes) {
    return ge::GRAPH_FAILED;
  }
  const bool hasBias = context->GetOptionalInputShape(1) != nullptr;
  RowBiasTilingData* tiling = context->GetTilingData<RowBiasTilingData>();
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  const uint32_t cores = platform.GetCoreNumAiv();
  for (size_t axis = 0; axis < kMaxAxes; ++axis) {
    tiling->lengths[axis] = axis < x.GetDimNum() ? x.GetDim(axis) : 1;
  }
  tiling->inner = x.GetDim(x.GetDimNum() - 1);
  tiling->padded = (tiling->inner + 7) / 8 * 8;
  tiling->split.rows = tiling->inner == 0 ? 0 : x.GetShapeSize() / tiling->inner;
  tiling->split.rowsPerBlock = (tiling->split.rows + cores - 1) / cores;
  tiling->scale = *context->GetAttrs()->GetFloat(0);
  const uint32_t each = tiling->split.rowsPerBlock;
  context->SetBlockDim(each == 0 ? 1 : (tiling->split.rows + each - 1) / each);
  const uint32_t type = static_cast<uint32_t>(context->GetInputDesc(0)->GetDataType());
  ASCENDC_TPL_SEL_PARAM(context, type, static_cast<uint32_t>(hasBias));
  context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize();
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus InferShape(gert::InferShapeContext* context) {
  *context->GetOutputShape(0) = *context->GetInputShape(0);
  return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class RowBias : public OpDef {
 public:
  explicit RowBias(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_INT32}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Input("bias").ParamType(OPTIONAL).DataType({ge::DT_FLOAT, ge::DT_INT32}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_INT32}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Attr("scale").AttrType(OPTIONAL).Float(1.0);
    this->SetInferShape(ge::InferShape);
    this->AICore().SetTiling(optiling::TilingFunc).AddConfig("ascend910b");
  }
};
OP_ADD(RowBias);
}  // namespace ops
