// GroupNorm, backward: what the first call refuses, and what it plans.
#include <cinttypes>

#include "checks.h"
#include "group_norm_backward_tiling.h"

namespace gn_host {
namespace {

constexpr uint64_t kGradients = 3;

struct BackwardCall {
  Argument grad_out, input, mean, rstd, gamma, grad_input, grad_gamma, grad_beta;
  Sizes sizes;
};

// The first of these refusals that fits, in the order of docs/host-api.md: null pointers, types, sizes, shapes, memory.
Outcome CheckBackward(BackwardCall* call) {
  auto& [grad_out, input, mean, rstd, gamma, grad_input, grad_gamma, grad_beta, sizes] = *call;
  Outcome wrong = NeedAll({&grad_out, &input, &mean, &rstd});
  if (!wrong.Failed()) wrong = LookUp({&grad_out, &input, &mean, &rstd, &gamma, &grad_input, &grad_gamma, &grad_beta});
  if (!wrong.Failed())
    wrong = NeedData({&grad_out, &input, &mean, &rstd, &gamma, &grad_input, &grad_gamma, &grad_beta});
  if (!wrong.Failed()) wrong = CheckSupported(grad_out);
  for (const Argument* one : {&input, &gamma, &grad_input, &grad_gamma, &grad_beta})
    if (!wrong.Failed()) wrong = CheckType(*one, grad_out->dtype, "the type of gradOut");
  for (const Argument* one : {&mean, &rstd})
    if (!wrong.Failed()) wrong = CheckType(*one, GN_FLOAT, "as the forward pass saves it");
  if (!wrong.Failed()) wrong = CheckSizes(&sizes);
  for (const Argument* one : {&grad_out, &input})
    if (!wrong.Failed()) wrong = CheckCount(*one, sizes.elements, "N * C * HxW");
  for (const Argument* one : {&mean, &rstd})
    if (!wrong.Failed()) wrong = CheckCount(*one, sizes.statistics, "N * group");
  if (!wrong.Failed()) wrong = CheckCount(gamma, sizes.c, "C");
  if (!wrong.Failed()) wrong = CheckShape(grad_input, input->dims, "the shape of input");
  const std::vector<int64_t> channels = gamma ? gamma->dims : std::vector<int64_t>{sizes.c};
  for (const Argument* one : {&grad_gamma, &grad_beta})
    if (!wrong.Failed())
      wrong = CheckShape(*one, channels, gamma ? "the shape of gamma" : "one number for each channel");
  if (!wrong.Failed())
    wrong = CheckOverlaps({&grad_out, &input, &mean, &rstd, &gamma}, {&grad_input, &grad_gamma, &grad_beta});
  return wrong;
}

// What the mask does not ask for is not looked at, whatever it is.
Outcome ReadMask(const uint8_t* mask, uint64_t size, BackwardCall* call) {
  if (mask == nullptr) return Null("outputMask is null", "three bytes: gradInput, gradGammaOut, gradBetaOut");
  if (size != kGradients) {
    return Invalid(Text("outputMaskSize is %" PRIu64 "; it must be 3", size),
                   "three bytes: gradInput, gradGammaOut, gradBetaOut");
  }
  Argument* const gradients[] = {&call->grad_input, &call->grad_gamma, &call->grad_beta};
  for (uint64_t at = 0; at < kGradients; ++at) {
    if (mask[at] == 0) {
      gradients[at]->handle = nullptr;
    } else if (gradients[at]->handle == nullptr) {
      return Null(Text("%s is null, and outputMask[%" PRIu64 "] asks for it", gradients[at]->name, at),
                  "pass what GnCreateTensor returned, or do not ask for it");
    }
  }
  return {};
}

Outcome PlanBackward(const BackwardCall& call, Executor* plan) {
  const Sizes& sizes = call.sizes;
  const Argument* const gradients[] = {&call.grad_input, &call.grad_gamma, &call.grad_beta};
  constexpr uint32_t kBits[] = {kGroupNormWantDx, kGroupNormWantDgamma, kGroupNormWantDbeta};
  uint32_t wanted = 0;
  for (uint64_t at = 0; at < kGradients; ++at) wanted |= *gradients[at] ? kBits[at] : 0;
  GroupNormBackwardTilingData tiling{};
  const char* const refused =
      MakeGroupNormBackwardAnyTiling(sizes.n, sizes.c, sizes.hxw, sizes.groups, static_cast<int32_t>(VectorCores()),
                                     static_cast<int32_t>(wanted), call.input->dtype, &tiling);
  if (refused != nullptr) return Invalid(refused, "divide the work into several calls");
  if (tiling.usedCores == 0) return {};  // nothing is wanted
  Place dy, x, mean, rstd, gamma, made[kGradients];
  Outcome wrong = plan->Input(*call.grad_out.tensor, &dy);
  if (!wrong.Failed()) wrong = plan->Input(*call.input.tensor, &x);
  if (!wrong.Failed()) wrong = plan->Input(*call.mean.tensor, &mean);
  if (!wrong.Failed()) wrong = plan->Input(*call.rstd.tensor, &rstd);
  if (!wrong.Failed() && call.gamma) wrong = plan->Input(*call.gamma.tensor, &gamma);
  if (!call.gamma) gamma = plan->Constant(call.input->dtype, sizes.c, 1.0f);
  for (uint64_t at = 0; at < kGradients; ++at)
    if (!wrong.Failed() && *gradients[at]) wrong = plan->Output(*gradients[at]->tensor, &made[at]);
  if (wrong.Failed()) return wrong;
  const uint64_t item = call.input->ItemBytes(), all = static_cast<uint64_t>(sizes.elements) * item;
  const uint64_t channels = static_cast<uint64_t>(sizes.c) * item;
  const uint64_t statistics = static_cast<uint64_t>(sizes.statistics) * sizeof(float);
  plan->Add({"group_norm_backward_any",
             tiling.usedCores,
             {{"dy", Role::kIn, dy, all},
              {"x", Role::kIn, x, all},
              {"mean", Role::kIn, mean, statistics},
              {"rstd", Role::kIn, rstd, statistics},
              {"gamma", Role::kIn, gamma, channels},
              {"dx", Role::kOut, made[0], call.grad_input ? all : 0},
              {"dgamma", Role::kOut, made[1], call.grad_gamma ? channels : 0},
              {"dbeta", Role::kOut, made[2], call.grad_beta ? channels : 0},
              {"workspace", Role::kWorkspace, plan->Room(tiling.workspaceBytes), tiling.workspaceBytes},
              plan->TilingData(tiling)}});
  return plan->Finish();
}

}  // namespace
}  // namespace gn_host

extern "C" GnStatus GroupNormBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* input,
                                                      const GnTensor* mean, const GnTensor* rstd, const GnTensor* gamma,
                                                      int64_t N, int64_t C, int64_t HxW, int64_t group,
                                                      const uint8_t* outputMask, uint64_t outputMaskSize,
                                                      GnTensor* gradInput, GnTensor* gradGammaOut,
                                                      GnTensor* gradBetaOut, uint64_t* workspaceSize,
                                                      GnExecutor** executor) {
  using namespace gn_host;
  constexpr const char* kFirst = "GroupNormBackwardGetWorkspaceSize";
  return Prepare(kFirst, "GroupNormBackward", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    BackwardCall call{{"gradOut", gradOut},
                      {"input", input},
                      {"mean", mean},
                      {"rstd", rstd},
                      {"gamma", gamma},
                      {"gradInput", gradInput},
                      {"gradGammaOut", gradGammaOut},
                      {"gradBetaOut", gradBetaOut},
                      {N, C, HxW, group}};
    if (Outcome wrong = NeedAll({&call.grad_out, &call.input, &call.mean, &call.rstd}); wrong.Failed()) return wrong;
    if (Outcome wrong = ReadMask(outputMask, outputMaskSize, &call); wrong.Failed()) return wrong;
    if (Outcome wrong = CheckBackward(&call); wrong.Failed()) return wrong;
    return PlanBackward(call, plan);
  });
}

extern "C" GnStatus GroupNormBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("GroupNormBackward", "GroupNormBackward", workspace, workspaceSize, executor, stream);
}
