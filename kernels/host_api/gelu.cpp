// GELU, forward and backward: what the first calls refuse, and what they plan.
#include <cstring>

#include "elements.h"
#include "gn_gelu.h"

namespace gn_host {
namespace {

// Which GELU: the number that the kernels take, or why there is none.
struct Form {
  uint32_t number;
  Outcome wrong = {};
};
constexpr uint32_t kNone = 0, kTanh = 1;

Form FormOf(int64_t approximate) { return {static_cast<uint32_t>(approximate), CheckGeluForm(approximate)}; }

Form FormOf(const char* approximate) {
  const char* const hint = "\"none\" is GELU as it is defined, with erf; \"tanh\" its tanh form";
  if (approximate == nullptr) return {kNone, Null("approximate is null", hint)};
  if (std::strcmp(approximate, "none") == 0) return {kNone};
  if (std::strcmp(approximate, "tanh") == 0) return {kTanh};
  return {kNone, Invalid(Text("approximate is \"%.40s\"; it must be \"none\" or \"tanh\"", approximate), hint)};
}

Outcome PlanGelu(const char* kernel, std::vector<Operand> operands, const Form& form, Executor* plan) {
  Arguments all;
  for (Operand& one : operands) all.push_back(&one.argument);
  if (Outcome wrong = NeedAll(all); wrong.Failed()) return wrong;
  if (form.wrong.Failed()) return form.wrong;
  return PlanElements(kernel, std::move(operands), {{"approximate", form.number}}, plan);
}

}  // namespace
}  // namespace gn_host

extern "C" GnStatus GeluGetWorkspaceSize(const GnTensor* self, GnTensor* out, uint64_t* workspaceSize,
                                         GnExecutor** executor) {
  using namespace gn_host;
  return Prepare("GeluGetWorkspaceSize", "Gelu", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    return PlanGelu("gelu_kernel", {{"x", {"self", self}}, {"y", {"out", out}}}, {kTanh}, plan);
  });
}

extern "C" GnStatus Gelu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("Gelu", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus GeluV2GetWorkspaceSize(const GnTensor* x, int64_t approximate, GnTensor* y, uint64_t* workspaceSize,
                                           GnExecutor** executor) {
  using namespace gn_host;
  return Prepare("GeluV2GetWorkspaceSize", "GeluV2", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    return PlanGelu("gelu_kernel", {{"x", {"x", x}}, {"y", {"y", y}}}, FormOf(approximate), plan);
  });
}

extern "C" GnStatus GeluV2(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("GeluV2", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus GeluBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* self, GnTensor* gradInput,
                                                 uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  constexpr const char* kFirst = "GeluBackwardGetWorkspaceSize";
  return Prepare(kFirst, "GeluBackward", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    return PlanGelu("gelu_backward_kernel",
                    {{"dy", {"gradOut", gradOut}}, {"x", {"self", self}}, {"dx", {"gradInput", gradInput}}}, {kTanh},
                    plan);
  });
}

extern "C" GnStatus GeluBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("GeluBackward", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus GeluBackwardV2GetWorkspaceSize(const GnTensor* gradOutput, const GnTensor* self,
                                                   const char* approximate, GnTensor* gradInput,
                                                   uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  constexpr const char* kFirst = "GeluBackwardV2GetWorkspaceSize";
  return Prepare(kFirst, "GeluBackwardV2", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    return PlanGelu("gelu_backward_kernel",
                    {{"dy", {"gradOutput", gradOutput}}, {"x", {"self", self}}, {"dx", {"gradInput", gradInput}}},
                    FormOf(approximate), plan);
  });
}

extern "C" GnStatus GeluBackwardV2(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("GeluBackwardV2", workspace, workspaceSize, executor, stream);
}
