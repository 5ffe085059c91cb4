// Element-wise fusions, forward and backward: what the first calls refuse, and what they plan.
#include "elements.h"
#include "gn_fused_elements.h"

extern "C" GnStatus AddReluGetWorkspaceSize(const GnTensor* self, const GnTensor* other, GnTensor* out,
                                            uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  return Prepare("AddReluGetWorkspaceSize", "AddRelu", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    return PlanElements("add_relu_kernel", {{"x", {"self", self}}, {"y", {"other", other}}, {"z", {"out", out}}}, {},
                        plan);
  });
}

extern "C" GnStatus AddRelu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("AddRelu", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus AddReluBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* result,
                                                    GnTensor* gradInput, uint64_t* workspaceSize,
                                                    GnExecutor** executor) {
  using namespace gn_host;
  constexpr const char* kFirst = "AddReluBackwardGetWorkspaceSize";
  return Prepare(kFirst, "AddReluBackward", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    return PlanElements("add_relu_backward_kernel",
                        {{"dz", {"gradOut", gradOut}}, {"z", {"result", result}}, {"dx", {"gradInput", gradInput}}}, {},
                        plan);
  });
}

extern "C" GnStatus AddReluBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("AddReluBackward", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus SwiGluGetWorkspaceSize(const GnTensor* gate, const GnTensor* up, GnTensor* out,
                                           uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  return Prepare("SwiGluGetWorkspaceSize", "SwiGlu", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    return PlanElements("swiglu_kernel", {{"gate", {"gate", gate}}, {"up", {"up", up}}, {"z", {"out", out}}}, {}, plan);
  });
}

extern "C" GnStatus SwiGlu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("SwiGlu", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus SwiGluBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* gate, const GnTensor* up,
                                                   GnTensor* gradGate, GnTensor* gradUp, uint64_t* workspaceSize,
                                                   GnExecutor** executor) {
  using namespace gn_host;
  constexpr const char* kFirst = "SwiGluBackwardGetWorkspaceSize";
  return Prepare(kFirst, "SwiGluBackward", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    return PlanElements("swiglu_backward_kernel",
                        {{"dz", {"gradOut", gradOut}},
                         {"gate", {"gate", gate}},
                         {"up", {"up", up}},
                         {"dgate", {"gradGate", gradGate}},
                         {"dup", {"gradUp", gradUp}}},
                        {}, plan, 2);
  });
}

extern "C" GnStatus SwiGluBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("SwiGluBackward", workspace, workspaceSize, executor, stream);
}
