// Small helpers that a repository of operators keeps beside its operators and that their host files use.
//
// Source: the names in common/inc of ops-nn, and their use there. If a project is a whole repository, its own helpers
// come first on the include path.
#pragma once
#include <string.h>

#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gn_twin/op_host/base_shapes.h"
#include "gn_twin/op_host/log_macros.h"
#include "gn_twin/op_host/contexts.h"
#include "gn_twin/op_host/registry.h"
#include "gn_twin/op_host/type_utils.h"
#include "gn_twin/host/platform_ascendc.h"

#define OP_TILING_CHECK(CONDITION, LOG, RETURN) OP_CHECK_IF(CONDITION, LOG, RETURN)
#define OPS_ERR_IF(CONDITION, LOG, RETURN) OP_CHECK_IF(CONDITION, LOG, RETURN)
#define OPS_CHECK_NULL_WITH_CONTEXT OP_CHECK_NULL_WITH_CONTEXT
#define VECTOR_INNER_ERR_REPORT_TILIING(...) OP_LOGE(__VA_ARGS__)
#define CUBE_INNER_ERR_REPORT(...) OP_LOGE(__VA_ARGS__)
#define OPS_REPORT_VECTOR_INNER_ERR(...) OP_LOGE(__VA_ARGS__)
#define OPS_REPORT_CUBE_INNER_ERR(...) OP_LOGE(__VA_ARGS__)
#define OPS_LOG_D(...) OP_LOGD(__VA_ARGS__)
#define OPS_LOG_I(...) OP_LOGI(__VA_ARGS__)
#define OPS_LOG_W(...) OP_LOGW(__VA_ARGS__)
#define OPS_LOG_E(...) OP_LOGE(__VA_ARGS__)
#define OP_LOGE_IF(CONDITION, RETURNED, ...) OP_CHECK_IF(CONDITION, OP_LOGE(__VA_ARGS__), return RETURNED)
#define OP_LOGI_IF_RETURN(CONDITION, RETURNED, ...) OP_CHECK_IF(CONDITION, OP_LOGI(__VA_ARGS__), return RETURNED)
#define OP_LOGW_IF(CONDITION, ...) OP_CHECK_IF(CONDITION, OP_LOGW(__VA_ARGS__), )

template <class Shape>
std::string Shape2String(const Shape& shape) {
  return Ops::Base::ToString(shape);
}

namespace Ops::Base {

// Whether the chip's vector instructions work on registers (Reg): architecture 3510 and later. The twin runs host code
// for such a chip, but runs its kernels by the rules of Ascend910B.
template <class Context>
bool IsRegbaseSocVersion(const Context* context) {
  return static_cast<int>(platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCurNpuArch()) >= 3510;
}

}  // namespace Ops::Base

namespace Ops::NN::OpTiling {

using Ops::Base::EnsureNotScalar;
using Ops::Base::IsRegbaseSocVersion;

}  // namespace Ops::NN::OpTiling

namespace Ops::Nn {

template <class Rank, class Dim>
bool IsDimValid(Rank rank, Dim dim) {
  const int64_t many = static_cast<int64_t>(rank), one = static_cast<int64_t>(dim);
  return -many <= one && one < many;
}
template <class... Parts>
std::string ConcatString(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}
template <class Rank, class Dim>
std::string GenInvalidDimMsg(const std::string& name, Rank rank, Dim dim) {
  const int64_t many = static_cast<int64_t>(rank);
  return ConcatString(name, " is ", static_cast<int64_t>(dim), "; it should be in [", -many, ", ", many, ")");
}
template <class Rank, class Dim>
std::string GenInvalidDimMsg(const std::string& name, size_t which, Rank rank, Dim dim) {
  return GenInvalidDimMsg(ConcatString(name, "[", which, "]"), rank, dim);
}
// Whether a tiling or shape function can read the tensor's values.
template <class Tensor>
bool IsConstTensor(const Tensor* tensor) {
  return tensor != nullptr && (tensor->GetAddr() != nullptr || tensor->GetShapeSize() == 0);
}

}  // namespace Ops::Nn

namespace optiling {

template <class Info, class Context>
Info* GetCompileInfoPtr(Context* context) {
  return context->template GetCompiledInfo<Info>();
}

// The key of a cache of tilings. Two keys are equal if the bytes of their inputs are equal.
template <class T>
class OpHashInput {
 public:
  OpHashInput() = default;
  explicit OpHashInput(T& input) { memcpy(&content_, &input, sizeof(T)); }
  bool operator==(const OpHashInput& other) const { return memcmp(&content_, &other.content_, sizeof(T)) == 0; }

 private:
  T content_;
};

}  // namespace optiling
