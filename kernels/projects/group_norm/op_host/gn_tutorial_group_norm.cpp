// The host side of GnTutorialGroupNorm: how it is divided, the shapes and types of its outputs, and what it takes.
//
// The tiling is that of the course (group_norm_tiling.h). Its key, in the struct, says way and dtype; the one that the framework
// is told says the way only, because there is a kernel for each dtype.
#include <cstdio>

#include "../op_kernel/group_norm/group_norm_tiling.h"
#include "graph/utils/type_utils.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace {

constexpr size_t kX = 0;
constexpr size_t kGamma = 1;
constexpr size_t kBeta = 2;

ge::graphStatus Refuse(const char* reason) {
  std::printf("GnTutorialGroupNorm: %s\n", reason);
  return ge::GRAPH_FAILED;
}

uint64_t RoundUp(uint64_t bytes) { return (bytes + 31) / 32 * 32; }

}  // namespace

namespace optiling {

static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const gert::StorageShape* shape = context->GetInputShape(kX);
  const gert::CompileTimeTensorDesc* described = context->GetInputDesc(kX);
  const gert::RuntimeAttrs* attributes = context->GetAttrs();
  if (shape == nullptr || described == nullptr || attributes == nullptr) return Refuse("x is missing");
  const gert::Shape& x = shape->GetStorageShape();
  if (x.GetDimNum() < 2) return Refuse("x needs two axes at least: (N, C, ...)");
  const int64_t n = x.GetDim(0), c = x.GetDim(1);
  int64_t s = 1;
  for (size_t axis = 2; axis < x.GetDimNum(); ++axis) {
    const int64_t length = x.GetDim(axis);
    if (length > 0 && s > INT32_MAX / length) return Refuse("a channel of x has more than 2147483647 elements");
    s *= length;
  }
  uint32_t absent = 0;
  for (const size_t input : {kGamma, kBeta}) {
    const gert::StorageShape* given = context->GetOptionalInputShape(input);
    if (given == nullptr) {
      ++absent;
    } else if (given->GetStorageShape().GetDimNum() != 1 || given->GetStorageShape().GetDim(0) != c) {
      return Refuse("gamma and beta need one axis, of C elements");
    }
  }

  const int64_t* groups = attributes->GetInt(0);
  const float* eps = attributes->GetFloat(1);
  if (groups == nullptr || eps == nullptr) return Refuse("num_groups or eps is missing");
  const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  const int32_t dtype = static_cast<int32_t>(described->GetDataType());
  GroupNormTilingData tiling{};
  const char* refused =
      MakeGroupNormKeyTiling(n, c, s, *groups, *eps, static_cast<int32_t>(chip.GetCoreNumAiv()), dtype, &tiling);
  if (refused != nullptr) return Refuse(refused);
  GroupNormTilingData* sent = context->GetTilingData<GroupNormTilingData>();
  if (sent == nullptr) return Refuse("the tiling data have no room");
  *sent = tiling;

  // An empty batch has no group for any core; one block starts and finds nothing to do.
  context->SetBlockDim(tiling.usedCores == 0 ? 1 : tiling.usedCores);
  context->SetTilingKey(tiling.tilingKey - static_cast<uint32_t>(dtype));
  context->SetScheduleMode(1);  // all blocks at once: they may wait for one another (SyncAll)
  const uint64_t element = dtype == kGroupNormFloat ? 4 : 2;
  size_t* sizes = context->GetWorkspaceSizes(1);
  if (sizes == nullptr) return Refuse("the workspace has no size to set");
  // What the library needs, the statistics of shared groups, then ones or zeros for what is absent.
  sizes[0] = chip.GetLibApiWorkSpaceSize() + RoundUp(tiling.workspaceBytes) + absent * RoundUp(c * element);
  return ge::GRAPH_SUCCESS;
}

}  // namespace optiling

namespace ge {

// y as x; mean and rstd: (N, num_groups). In a graph N may still be unknown, -1, and so may the number of axes.
static ge::graphStatus InferShape(gert::InferShapeContext* context) {
  const gert::Shape* x = context->GetInputShape(kX);
  const gert::RuntimeAttrs* attributes = context->GetAttrs();
  const int64_t* groups = attributes == nullptr ? nullptr : attributes->GetInt(0);
  if (x == nullptr || groups == nullptr) return Refuse("x or num_groups is missing");
  const bool unknown = x->GetDimNum() == 1 && x->GetDim(0) == -2;
  if (x->GetDimNum() < 2 && !unknown) return Refuse("x needs two axes at least: (N, C, ...)");
  *context->GetOutputShape(0) = *x;
  for (const size_t output : {1, 2}) {
    gert::Shape* statistic = context->GetOutputShape(output);
    statistic->SetDimNum(2);
    statistic->SetDim(0, unknown ? -1 : x->GetDim(0));
    statistic->SetDim(1, *groups);
  }
  return ge::GRAPH_SUCCESS;
}

static ge::graphStatus InferDataType(gert::InferDataTypeContext* context) {
  context->SetOutputDataType(0, context->GetInputDataType(kX));
  context->SetOutputDataType(1, ge::DT_FLOAT);
  context->SetOutputDataType(2, ge::DT_FLOAT);
  return ge::GRAPH_SUCCESS;
}

}  // namespace ge

namespace ops {

class GnTutorialGroupNorm : public OpDef {
 public:
  explicit GnTutorialGroupNorm(const char* name) : OpDef(name) {
    for (const char* input : {"x", "gamma", "beta"}) {
      this->Input(input)
          .ParamType(input[0] == 'x' ? REQUIRED : OPTIONAL)
          .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
          .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
          .AutoContiguous();
    }
    this->Output("y")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
    for (const char* statistic : {"mean", "rstd"}) {
      this->Output(statistic)
          .ParamType(REQUIRED)
          .DataType({ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT})
          .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
    }
    this->Attr("num_groups").AttrType(REQUIRED).Int();
    this->Attr("eps").AttrType(OPTIONAL).Float(1e-05f);
    this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
    this->AICore().SetTiling(optiling::TilingFunc).AddConfig("ascend910b");
  }
};

OP_ADD(GnTutorialGroupNorm);

}  // namespace ops
