// Operators whose definitions have each kind of parameter, attribute and chip once.
#include "register/op_def_registry.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext*) { return 11; }
struct Info {
  int cores = 40;
  int64_t bytes = 0;
};
static ge::graphStatus Check(const ge::Operator&, ge::AscendString&) { return ge::GRAPH_SUCCESS; }
static ge::graphStatus Generalize(const ge::Operator&, const ge::AscendString&, ge::AscendString&) {
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static ge::graphStatus InferShape(gert::InferShapeContext*) { return 12; }
static ge::graphStatus InferRange(gert::InferShapeRangeContext*) { return GRAPH_SUCCESS; }
static ge::graphStatus InferType(gert::InferDataTypeContext*) { return 13; }
}  // namespace ge

namespace ops {

class NLLMix2d : public OpDef {
 public:
  explicit NLLMix2d(const char* name) : OpDef(name) {
    this->Input("x_in")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_NCHW})
        .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_NCHW})
        .AutoContiguous()
        .Comment("a \"quoted\" line\nand another");
    this->Input("weight").ParamType(OPTIONAL).Follow("x_in").IgnoreContiguous();
    this->Input("Parts").ParamType(DYNAMIC).DataTypeList({ge::DT_INT32, ge::DT_INT64}).FormatList({ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).Follow("weight", FollowType::DTYPE).InitValue(0);
    this->Output("Mask")
        .ParamType(OPTIONAL)
        .DataType({ge::DT_UINT8, ge::DT_UINT8, ge::DT_BOOL})
        .DataTypeForBinQuery({ge::DT_UINT8, ge::DT_UINT8, ge::DT_UINT8})
        .InitValue({{ScalarType::INT16, 1}, {ScalarType::FLOAT32, 3.25}, {ScalarType::UINT64, 7u}});
    this->Attr("num_groups").Int();
    this->Attr("eps").AttrType(OPTIONAL).Float(1e-5);
    this->Attr("flag").AttrType(OPTIONAL).Bool(true);
    this->Attr("mode").AttrType(OPTIONAL).String("su\\m").Comment("how");
    this->Attr("axes").AttrType(OPTIONAL).ListInt({-1, 9007199254740993});
    this->Attr("scales").AttrType(OPTIONAL).ListFloat({0.1, 2.0});
    this->Attr("picks").AttrType(REQUIRED).ListBool({true, false});
    this->Comment(CommentSection::BRIEF, "Mixes.").Comment(CommentSection::CATEGORY, "mix");
    this->SetInferShape(ge::InferShape).SetInferShapeRange(ge::InferRange).SetInferDataType(ge::InferType);
    this->AICore()
        .SetTiling(optiling::TilingFunc)
        .SetCheckSupport(optiling::Check)
        .SetParamGeneralize(optiling::Generalize)
        .LaunchWithZeroEleOutputTensors(true);
    this->AICore().AddConfig("ascend910b");
    OpAICoreConfig config;
    config.Input("x_in").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    config.Input("extra").DataType({ge::DT_FLOAT});
    config.Output("Mask").ParamType(REQUIRED).DataType({ge::DT_UINT8});
    config.DynamicShapeSupportFlag(true).NeedCheckSupportFlag(false).ExtendCfgInfo("opFile.value", "mix");
    this->AICore().AddConfig("ascend310b", config);
    this->FormatMatchMode(FormatCheckOption::STRICT).EnableFallBack();
  }
};
OP_ADD(NLLMix2d, optiling::Info);

// In place, values that tiling reads, scalars, and inputs that later versions added.
class AddInto : public OpDef {
 public:
  explicit AddInto(const char* name) : OpDef(name) {
    this->Input("var").DataType({ge::DT_FLOAT});
    this->Input("other").DataType({ge::DT_FLOAT}).ParamType(OPTIONAL).Version(1);
    this->Input("list").DataType({ge::DT_FLOAT}).ParamType(DYNAMIC);
    this->Input("alpha").DataType({ge::DT_FLOAT}).Scalar().To(ge::DT_FLOAT16);
    this->Input("betas").DataType({ge::DT_FLOAT}).ScalarList().To("var");
    this->Input("shape").DataType({ge::DT_INT64}).ValueDepend(OPTIONAL);
    this->Input("gains").DataType({ge::DT_FLOAT}).ParamType(OPTIONAL).ValueDepend(REQUIRED, DependScope::TILING);
    this->Input("keep").DataTypeList({ge::DT_BOOL}).ValueDepend(REQUIRED);
    this->Output("var").DataType({ge::DT_FLOAT});
    this->Output("list").DataType({ge::DT_FLOAT}).ParamType(DYNAMIC);
    this->Attr("scale").AttrType(OPTIONAL).Float(2.0).Version(2);
    this->AICore().SetTiling(optiling::TilingFunc).AddConfig("ascend910b");
  }
};
OP_ADD(AddInto);

// Its output's shape is known after the kernel only.
class Nonzero : public OpDef {
 public:
  explicit Nonzero(const char* name) : OpDef(name) {
    this->Input("x").DataType({ge::DT_FLOAT});
    this->Output("indices").DataType({ge::DT_INT64}).OutputShapeDependOnCompute();
    this->Output("counts").DataType({ge::DT_INT64}).ParamType(DYNAMIC);
    this->MC2().HcclGroup({"first", "second"}).HcclGroup("third");
    this->MC2().HcclServerType(HcclServerType::AICORE, "ascend910b");
    this->AICPU().Engine("DNN_VM_AICPU").FlagAsync(false).ExtendCfgInfo("opInfo.userDefined", "True");
    this->HostCPU().KernelSo("lib.so").UserDefined(true);
  }
};
OP_ADD(Nonzero);

}  // namespace ops
