// Functions registered apart from definitions, in a second file whose names are those of the first.
#include "register/device_op_impl_registry.h"
#include "register/op_config_registry.h"
#include "register/op_impl_registry.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext*) { return 21; }
static ge::graphStatus Prepare(gert::TilingParseContext*) { return 24; }
static ge::graphStatus SinkTiling(gert::TilingContext*) { return 25; }
struct SplitCompileInfo {
  int cores = 48;
  uint64_t bytes[3] = {};
};
IMPL_OP_OPTILING(Split)
    .Tiling(TilingFunc, 4096)
    .TilingParse<SplitCompileInfo>(Prepare)
    .TilingInputsDataDependency({1}, {gert::OpImplRegisterV2::TilingPlacement::TILING_ON_HOST});
// A definition of parameters.cpp has a function, which this one replaces.
IMPL_OP_OPTILING(AddInto).Tiling(TilingFunc);
DEVICE_IMPL_OP_OPTILING(Sunk).Tiling(SinkTiling);
DEVICE_IMPL_OP_OPTILING(Split).Tiling(SinkTiling);
}  // namespace optiling

namespace ops {
static ge::graphStatus InferShape(gert::InferShapeContext*) { return 22; }
static ge::graphStatus InferType(gert::InferDataTypeContext*) { return 23; }
IMPL_OP_INFERSHAPE(Split).InferShape(InferShape).InferDataType(InferType).InputsDataDependency({0, 2});
IMPL_OP(Split)
    .PrivateAttr("plain")
    .PrivateAttr("depth", static_cast<int64_t>(3))
    .PrivateAttr("mode", "fast")
    .OutputShapeDependOnCompute({0})
    .GenSimplifiedKey(optiling::Prepare)
    .OpExecuteFunc(nullptr);

class Split : public OpDef {
 public:
  explicit Split(const char* name) : OpDef(name) {
    this->Input("x").DataType({ge::DT_FLOAT, ge::DT_FLOAT16});
    this->Output("y").DataType({ge::DT_FLOAT, ge::DT_FLOAT16});
    OpAICoreConfig config("ascend910b");
    config.Input("x").DataType({ge::DT_FLOAT});
    config.Output("y").DataType({ge::DT_FLOAT});
    this->AICore().AddConfig("ascend910b", config);
  }
};
OP_ADD(Split);

// The chip that the definition has too keeps what the definition says.
REGISTER_OP_AICORE_CONFIG(Split, ascend910b, []() { return OpAICoreConfig("ascend910b"); });
REGISTER_OP_AICORE_CONFIG(Split, ascend310p, []() {
  OpAICoreConfig config("ascend310p");
  config.Input("x").DataType({ge::DT_FLOAT16}), config.Output("y").DataType({ge::DT_FLOAT16});
  return config;
});
}  // namespace ops
