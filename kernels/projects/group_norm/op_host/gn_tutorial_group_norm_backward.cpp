// The host side of GnTutorialGroupNormBackward: how it is divided, the shapes and types of its outputs, and what it takes.
//
// The tiling is that of the course (group_norm_backward_tiling.h). Its key, in the struct, says way and dtype; the one that the
// framework is told says the way only, because there is a kernel for each dtype.
#include <cstdio>

#include "../op_kernel/group_norm_backward/group_norm_backward_tiling.h"
#include "graph/utils/type_utils.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace {

constexpr size_t kDy = 0;
constexpr size_t kX = 1;
constexpr size_t kMean = 2;
constexpr size_t kRstd = 3;
constexpr size_t kGamma = 4;

ge::graphStatus Refuse(const char* reason) {
  std::printf("GnTutorialGroupNormBackward: %s\n", reason);
  return ge::GRAPH_FAILED;
}

uint64_t RoundUp(uint64_t bytes) { return (bytes + 31) / 32 * 32; }

bool Is(const gert::StorageShape* given, int64_t first, int64_t second) {
  if (given == nullptr) return false;
  const gert::Shape& shape = given->GetStorageShape();
  return shape.GetDimNum() == 2 && shape.GetDim(0) == first && shape.GetDim(1) == second;
}

}  // namespace

namespace optiling {

static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const gert::StorageShape* shape = context->GetInputShape(kX);
  const gert::StorageShape* gradient = context->GetInputShape(kDy);
  const gert::CompileTimeTensorDesc* described = context->GetInputDesc(kX);
  const gert::RuntimeAttrs* attributes = context->GetAttrs();
  if (shape == nullptr || gradient == nullptr || described == nullptr || attributes == nullptr)
    return Refuse("dy or x is missing");
  const gert::Shape& x = shape->GetStorageShape();
  if (x.GetDimNum() < 2) return Refuse("x needs two axes at least: (N, C, ...)");
  if (!(gradient->GetStorageShape() == x)) return Refuse("dy needs the shape of x");
  const int64_t n = x.GetDim(0), c = x.GetDim(1);
  int64_t s = 1;
  for (size_t axis = 2; axis < x.GetDimNum(); ++axis) {
    const int64_t length = x.GetDim(axis);
    if (length > 0 && s > INT32_MAX / length) return Refuse("a channel of x has more than 2147483647 elements");
    s *= length;
  }
  const int64_t* groups = attributes->GetInt(0);
  const auto* wanted = attributes->GetAttrPointer<gert::ContinuousVector>(1);
  if (groups == nullptr || wanted == nullptr) return Refuse("num_groups or output_mask is missing");
  if (!Is(context->GetInputShape(kMean), n, *groups) || !Is(context->GetInputShape(kRstd), n, *groups))
    return Refuse("mean and rstd need the shape (N, num_groups)");
  const gert::StorageShape* gamma = context->GetOptionalInputShape(kGamma);
  if (gamma != nullptr && (gamma->GetStorageShape().GetDimNum() != 1 || gamma->GetStorageShape().GetDim(0) != c))
    return Refuse("gamma needs one axis, of C elements");
  if (wanted->GetSize() != 3) return Refuse("output_mask has three elements: dx, dgamma, dbeta");
  const bool* bits = static_cast<const bool*>(wanted->GetData());
  const int32_t mask =
      (bits[0] ? kGroupNormWantDx : 0) + (bits[1] ? kGroupNormWantDgamma : 0) + (bits[2] ? kGroupNormWantDbeta : 0);

  const platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  const int32_t dtype = static_cast<int32_t>(described->GetDataType());
  GroupNormBackwardTilingData tiling{};
  const char* refused = MakeGroupNormBackwardAnyTiling(n, c, s, *groups, static_cast<int32_t>(chip.GetCoreNumAiv()),
                                                       mask, dtype, &tiling);
  if (refused != nullptr) return Refuse(refused);
  GroupNormBackwardTilingData* sent = context->GetTilingData<GroupNormBackwardTilingData>();
  if (sent == nullptr) return Refuse("the tiling data have no room");
  if (tiling.usedCores == 0) tiling.mask = 0;  // nothing is wanted; one block starts and does nothing
  *sent = tiling;

  context->SetBlockDim(tiling.usedCores == 0 ? 1 : tiling.usedCores);
  context->SetTilingKey(tiling.tilingKey - static_cast<uint32_t>(dtype));
  context->SetScheduleMode(1);  // all blocks at once: they wait for one another (SyncAll)
  const uint64_t element = dtype == kGroupNormBackwardFloat ? 4 : 2;
  size_t* sizes = context->GetWorkspaceSizes(1);
  if (sizes == nullptr) return Refuse("the workspace has no size to set");
  // What the library needs, the tables of sums, then ones for a gamma that is absent.
  sizes[0] =
      chip.GetLibApiWorkSpaceSize() + RoundUp(tiling.workspaceBytes) + (gamma == nullptr ? RoundUp(c * element) : 0);
  return ge::GRAPH_SUCCESS;
}

}  // namespace optiling

namespace ge {

// dx as x; dgamma and dbeta: (C). In a graph C may still be unknown, -1, and so may the number of axes.
static ge::graphStatus InferShape(gert::InferShapeContext* context) {
  const gert::Shape* x = context->GetInputShape(kX);
  if (x == nullptr) return Refuse("x is missing");
  const bool unknown = x->GetDimNum() == 1 && x->GetDim(0) == -2;
  if (x->GetDimNum() < 2 && !unknown) return Refuse("x needs two axes at least: (N, C, ...)");
  *context->GetOutputShape(0) = *x;
  for (const size_t output : {1, 2}) {
    gert::Shape* of_channels = context->GetOutputShape(output);
    of_channels->SetDimNum(1);
    of_channels->SetDim(0, unknown ? -1 : x->GetDim(1));
  }
  return ge::GRAPH_SUCCESS;
}

static ge::graphStatus InferDataType(gert::InferDataTypeContext* context) {
  for (const size_t output : {0, 1, 2}) context->SetOutputDataType(output, context->GetInputDataType(kX));
  return ge::GRAPH_SUCCESS;
}

}  // namespace ge

namespace ops {

class GnTutorialGroupNormBackward : public OpDef {
 public:
  explicit GnTutorialGroupNormBackward(const char* name) : OpDef(name) {
    for (const char* input : {"dy", "x"}) {
      this->Input(input)
          .ParamType(REQUIRED)
          .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
          .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
          .AutoContiguous();
    }
    for (const char* statistic : {"mean", "rstd"}) {
      this->Input(statistic)
          .ParamType(REQUIRED)
          .DataType({ge::DT_FLOAT, ge::DT_FLOAT, ge::DT_FLOAT})
          .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
          .AutoContiguous();
    }
    this->Input("gamma")
        .ParamType(OPTIONAL)
        .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
        .AutoContiguous();
    for (const char* output : {"dx", "dgamma", "dbeta"}) {
      this->Output(output)
          .ParamType(REQUIRED)
          .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
          .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
    }
    this->Attr("num_groups").AttrType(REQUIRED).Int();
    this->Attr("output_mask").AttrType(OPTIONAL).ListBool({true, true, true});
    this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
    this->AICore().SetTiling(optiling::TilingFunc).AddConfig("ascend910b");
  }
};

OP_ADD(GnTutorialGroupNormBackward);

}  // namespace ops
