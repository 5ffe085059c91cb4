// GroupNorm, backward, alone and with SiLU behind it: what the first call refuses, and what it plans. Of two kernels of the one, one takes
// tensors with the channels last; with SiLU there is one kernel, for which such tensors are packed.
#include <cinttypes>

#include "checks.h"
#include "gn_group_norm.h"
#include "group_norm_backward_nhwc_tiling.h"
#include "group_norm_backward_tiling.h"
#include "layout.h"

namespace gn_host {
namespace {

static_assert(kGroupNormWantDx == 1 && kGroupNormWantDgamma == 2 && kGroupNormWantDbeta == 4, "as WantedBits says");
static_assert(kNhwcWantDx == 1 && kNhwcWantDgamma == 2 && kNhwcWantDbeta == 4, "as WantedBits says");

struct GroupNormBackwardCall {
  Argument grad_out, input, mean, rstd, gamma, beta, grad_input, grad_gamma, grad_beta;
  Sizes sizes;
  bool silu;  // only then beta may be there
};

// The first of these refusals that fits, in the order of docs/host-api.md: null pointers, types, sizes, shapes, memory.
Outcome Check(const uint8_t* mask, uint64_t mask_size, GroupNormBackwardCall* call) {
  auto& [grad_out, input, mean, rstd, gamma, beta, grad_input, grad_gamma, grad_beta, sizes, silu] = *call;
  const Arguments needed{&grad_out, &input, &mean, &rstd}, gradients{&grad_input, &grad_gamma, &grad_beta};
  Outcome wrong = NeedAll(needed);
  if (!wrong.Failed()) wrong = ReadMask(mask, mask_size, gradients);
  if (!wrong.Failed())
    wrong = LookUp(needed, {&grad_out, &input, &mean, &rstd, &gamma, &beta, &grad_input, &grad_gamma, &grad_beta});
  if (!wrong.Failed()) wrong = CheckSupported(grad_out);
  if (!wrong.Failed())
    wrong = CheckType({&input, &gamma, &beta, &grad_input, &grad_gamma, &grad_beta}, grad_out->dtype,
                      "the type of gradOut");
  if (!wrong.Failed()) wrong = CheckStatistics({&mean, &rstd}, grad_out);
  if (!wrong.Failed()) wrong = CheckSizes(&sizes);
  if (!wrong.Failed()) wrong = CheckCount({&grad_out, &input}, sizes.elements, "N * C * HxW");
  if (!wrong.Failed()) wrong = CheckCount({&mean, &rstd}, sizes.statistics, "N * group");
  if (!wrong.Failed()) wrong = CheckCount({&gamma, &beta}, sizes.c, "C");
  if (!wrong.Failed()) wrong = CheckShape({&grad_input}, input->dims, "the shape of input");
  if (wrong.Failed()) return wrong;
  const std::vector<int64_t> channels = gamma ? gamma->dims : std::vector<int64_t>{sizes.c};
  wrong = CheckShape({&grad_gamma, &grad_beta}, channels, gamma ? "the shape of gamma" : "one number for each channel");
  if (!wrong.Failed()) wrong = CheckOverlaps({&grad_out, &input, &mean, &rstd, &gamma, &beta}, gradients);
  return wrong;
}

// Adds the launch of a kernel on dy, x and dx as they are given here, once its tiling is made.
template <class Tiling>
Outcome AddKernel(const GroupNormBackwardCall& call, const char* kernel, const Tensor& dy, const Tensor& x,
                  const Tensor* dx, const Tiling& tiling, Executor* plan) {
  // gamma or beta: the tensor, or what stands for it where there is none.
  const auto affine = [&](const char* name, const Argument& argument, float value) {
    return argument ? plan->Input(name, *argument.tensor)
                    : plan->Constant(name, call.input->dtype, call.sizes.c, value);
  };
  std::vector<PlannedArg> args{plan->Input("dy", dy), plan->Input("x", x), plan->FloatInput("mean", *call.mean.tensor),
                               plan->FloatInput("rstd", *call.rstd.tensor), affine("gamma", call.gamma, 1.0f)};
  if (call.silu) args.push_back(affine("beta", call.beta, 0.0f));
  args.push_back(plan->Output("dx", dx));
  args.push_back(plan->Output("dgamma", call.grad_gamma.tensor.get()));
  args.push_back(plan->Output("dbeta", call.grad_beta.tensor.get()));
  args.push_back(plan->Workspace(tiling.workspaceBytes));
  args.push_back(plan->TilingData(tiling));
  plan->Add({kernel, tiling.usedCores, args});
  return plan->Finish();
}

// Whether dy, x and dx are (N, C, ...) as they stand: the call takes any axes with as many elements.
bool HaveChannels(const GroupNormBackwardCall& call) {
  for (const Argument* one : {&call.grad_out, &call.input, &call.grad_input}) {
    if (!*one) continue;
    const std::vector<int64_t>& dims = (*one)->dims;
    if (dims.size() < 2 || dims[0] != call.sizes.n || dims[1] != call.sizes.c) return false;
  }
  return true;
}

Outcome Plan(GroupNormBackwardCall& call, Executor* plan) {
  const Sizes& sizes = call.sizes;
  const uint32_t wanted = WantedBits({&call.grad_input, &call.grad_gamma, &call.grad_beta});
  const int32_t cores = static_cast<int32_t>(VectorCores());
  const Tensor &dy = *call.grad_out.tensor, &x = *call.input.tensor;
  GroupNormBackwardNhwcTilingData last{};
  // That kernel refuses groups of very many channels; those are packed.
  if (!call.silu && wanted != 0 && sizes.elements > 0 && HaveChannels(call) &&
      ChannelsLastPays({&call.grad_out, &call.input, &call.grad_input}) &&
      MakeGroupNormBackwardNhwcTiling(sizes.n, sizes.hxw, sizes.c, sizes.groups, cores, static_cast<int32_t>(wanted),
                                      x.dtype, &last) == nullptr) {
    Tensor dx{};
    if (call.grad_input) dx = ChannelsLast(*call.grad_input.tensor);
    return AddKernel(call, "group_norm_backward_nhwc", ChannelsLast(dy), ChannelsLast(x),
                     call.grad_input ? &dx : nullptr, last, plan);
  }
  GroupNormBackwardTilingData tiling{};
  const char* const refused = MakeGroupNormBackwardAnyTiling(sizes.n, sizes.c, sizes.hxw, sizes.groups, cores,
                                                             static_cast<int32_t>(wanted), x.dtype, &tiling, call.silu);
  if (refused != nullptr) return Invalid(refused, "divide the work into several calls");
  if (tiling.usedCores == 0) return {};  // nothing is wanted
  return AddKernel(call, call.silu ? "group_norm_silu_backward" : "group_norm_backward_any", dy, x,
                   call.grad_input.tensor.get(), tiling, plan);
}

// The first call of both operators.
GnStatus FirstCall(const char* function, const char* op, GroupNormBackwardCall call, const uint8_t* mask,
                   uint64_t mask_size, uint64_t* workspaceSize, GnExecutor** executor) {
  return Prepare(function, op, workspaceSize, executor, [&](Executor* plan) -> Outcome {
    if (Outcome wrong = Check(mask, mask_size, &call); wrong.Failed()) return wrong;
    return Plan(call, plan);
  });
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
  return gn_host::FirstCall("GroupNormBackwardGetWorkspaceSize", "GroupNormBackward",
                            {{"gradOut", gradOut},
                             {"input", input},
                             {"mean", mean},
                             {"rstd", rstd},
                             {"gamma", gamma},
                             {"beta", nullptr},
                             {"gradInput", gradInput},
                             {"gradGammaOut", gradGammaOut},
                             {"gradBetaOut", gradBetaOut},
                             {N, C, HxW, group},
                             false},
                            outputMask, outputMaskSize, workspaceSize, executor);
}

extern "C" GnStatus GroupNormBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("GroupNormBackward", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus GroupNormSiluBackwardGetWorkspaceSize(
    const GnTensor* gradOut, const GnTensor* input, const GnTensor* mean, const GnTensor* rstd, const GnTensor* gamma,
    const GnTensor* beta, int64_t N, int64_t C, int64_t HxW, int64_t group, const uint8_t* outputMask,
    uint64_t outputMaskSize, GnTensor* gradInput, GnTensor* gradGammaOut, GnTensor* gradBetaOut,
    uint64_t* workspaceSize, GnExecutor** executor) {
  return gn_host::FirstCall("GroupNormSiluBackwardGetWorkspaceSize", "GroupNormSiluBackward",
                            {{"gradOut", gradOut},
                             {"input", input},
                             {"mean", mean},
                             {"rstd", rstd},
                             {"gamma", gamma},
                             {"beta", beta},
                             {"gradInput", gradInput},
                             {"gradGammaOut", gradGammaOut},
                             {"gradBetaOut", gradBetaOut},
                             {N, C, HxW, group},
                             true},
                            outputMask, outputMaskSize, workspaceSize, executor);
}

extern "C" GnStatus GroupNormSiluBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor,
                                          GnStream* stream) {
  return gn_host::Execute("GroupNormSiluBackward", workspace, workspaceSize, executor, stream);
}
