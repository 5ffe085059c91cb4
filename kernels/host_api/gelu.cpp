// GELU, forward and backward: what the first calls refuse, and what they plan.
//
// Each element is computed from those at its own place, so the order of elements does not matter, as long as it is one for all tensors.
// It is the order that the output's memory has: a channels-last tensor with a channels-last output costs no copy.
#include "checks.h"
#include "gn_gelu.h"
#include "common_elements_tiling.h"

namespace gn_host {
namespace {

// A tensor of an operator, and the kernel's name for it.
struct Operand {
  const char* parameter;
  Argument argument;
};

// The first of these refusals that fits, in the order of docs/host-api.md: null pointers, types, shapes, memory. The last one is written.
Outcome Check(std::vector<Operand>* operands) {
  Arguments all;
  for (Operand& one : *operands) all.push_back(&one.argument);
  const Argument& first = *all.front();
  const std::string type = Text("the type of %s", first.name), shape = Text("the shape of %s", first.name);
  Outcome wrong = LookUp(all, all);
  if (!wrong.Failed()) wrong = CheckSupported(first);
  if (!wrong.Failed()) wrong = CheckType(all, first->dtype, type.c_str());
  if (!wrong.Failed()) wrong = CheckShape(all, first->dims, shape.c_str());
  if (!wrong.Failed()) wrong = CheckOverlaps({all.begin(), all.end() - 1}, {all.back()});
  return wrong;
}

Outcome Plan(const char* kernel, const std::vector<Operand>& operands, Executor* plan) {
  const Tensor& out = *operands.back().argument.tensor;
  uint32_t blocks = 0;
  const char* const refused =
      MakeElementsBlocks(out.count, out.ItemBytes(), static_cast<int32_t>(VectorCores()), &blocks);
  if (refused != nullptr) return Invalid(refused, "divide the work into several calls");
  if (blocks == 0) return {};
  const std::vector<size_t> axes = out.AxesInMemory();
  PlannedLaunch launch{kernel, blocks, {}};
  for (const Operand& one : operands) {
    const Tensor tensor = one.argument->Permuted(axes);
    launch.args.push_back(&one == &operands.back() ? plan->Output(one.parameter, &tensor)
                                                   : plan->Input(one.parameter, tensor));
  }
  launch.args.push_back(plan->Number("n", static_cast<uint32_t>(out.count)));
  launch.args.push_back(plan->Number("dtype", static_cast<uint32_t>(out.dtype)));
  plan->Add(std::move(launch));
  return plan->Finish();
}

}  // namespace
}  // namespace gn_host

extern "C" GnStatus GeluGetWorkspaceSize(const GnTensor* self, GnTensor* out, uint64_t* workspaceSize,
                                         GnExecutor** executor) {
  using namespace gn_host;
  return Prepare("GeluGetWorkspaceSize", "Gelu", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    std::vector<Operand> operands{{"x", {"self", self}}, {"y", {"out", out}}};
    if (Outcome wrong = Check(&operands); wrong.Failed()) return wrong;
    return Plan("gelu_kernel", operands, plan);
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
    std::vector<Operand> operands{
        {"dy", {"gradOut", gradOut}}, {"x", {"self", self}}, {"dx", {"gradInput", gradInput}}};
    if (Outcome wrong = Check(&operands); wrong.Failed()) return wrong;
    return Plan("gelu_backward_kernel", operands, plan);
  });
}

extern "C" GnStatus GeluBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("GeluBackward", workspace, workspaceSize, executor, stream);
}
