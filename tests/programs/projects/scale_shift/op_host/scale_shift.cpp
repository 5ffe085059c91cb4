// ScaleShift, y = alpha * x + beta: definition, inference, tiling, in the layout of CANN 8.x.
#include "scale_shift_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  ScaleShiftTilingData tiling;
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  uint64_t ubBytes = 0;
  platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
  const uint32_t cores = platform.GetCoreNumAiv();
  const uint32_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
  const uint32_t elementBytes = context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT16 ? 2 : 4;
  const uint32_t perUnit = 32 / elementBytes;
  const uint32_t units = (length + perUnit - 1) / perUnit;
  const uint32_t unitsPerBlock = (units + cores - 1) / cores;
  const uint32_t blocks = unitsPerBlock == 0 ? 1 : (units + unitsPerBlock - 1) / unitsPerBlock;
  // Two buffers of x, two of y.
  const uint32_t room = ubBytes / 4 / elementBytes / perUnit * perUnit;
  tiling.set_length(length);
  tiling.set_blockLength(unitsPerBlock * perUnit);
  tiling.set_tileLength(room < 4096 ? room : 4096);
  tiling.set_alpha(*context->GetAttrs()->GetAttrPointer<float>(0));
  tiling.set_beta(*context->GetAttrs()->GetAttrPointer<float>(1));
  context->SetBlockDim(blocks);
  context->SetTilingKey(elementBytes == 2 ? 1 : 0);
  tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
  size_t* workspaces = context->GetWorkspaceSizes(1);
  workspaces[0] = 0;
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static ge::graphStatus InferShape(gert::InferShapeContext* context) {
  *context->GetOutputShape(0) = *context->GetInputShape(0);
  return GRAPH_SUCCESS;
}
static ge::graphStatus InferDataType(gert::InferDataTypeContext* context) {
  return context->SetOutputDataType(0, context->GetInputDataType(0));
}
}  // namespace ge

namespace ops {
class ScaleShift : public OpDef {
 public:
  explicit ScaleShift(const char* name) : OpDef(name) {
    this->Input("x")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND})
        .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Output("y")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND})
        .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Attr("alpha").AttrType(OPTIONAL).Float(2.0);
    this->Attr("beta").AttrType(OPTIONAL).Float(0.5);
    this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
    this->AICore().SetTiling(optiling::TilingFunc);
    this->AICore().AddConfig("ascend910b");
  }
};
OP_ADD(ScaleShift);
}  // namespace ops
