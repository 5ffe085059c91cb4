// GELU, forward and backward: what the first calls refuse, and what they plan.
#include "elements.h"
#include "gn_gelu.h"

extern "C" GnStatus GeluGetWorkspaceSize(const GnTensor* self, GnTensor* out, uint64_t* workspaceSize,
                                         GnExecutor** executor) {
  using namespace gn_host;
  return Prepare("GeluGetWorkspaceSize", "Gelu", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    return PlanElements("gelu_kernel", {{"x", {"self", self}}, {"y", {"out", out}}}, plan);
  });
}

extern "C" GnStatus Gelu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("Gelu", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus GeluBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* self, GnTensor* gradInput,
                                                 uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  constexpr const char* kFirst = "GeluBackwardGetWorkspaceSize";
  return Prepare(kFirst, "GeluBackward", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    return PlanElements("gelu_backward_kernel",
                        {{"dy", {"gradOut", gradOut}}, {"x", {"self", self}}, {"dx", {"gradInput", gradInput}}}, plan);
  });
}

extern "C" GnStatus GeluBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("GeluBackward", workspace, workspaceSize, executor, stream);
}
