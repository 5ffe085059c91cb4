// GroupNorm, forward, alone and with SiLU behind it: what the first call refuses, and what it plans. The two differ in the kernels, and
// in that GroupNormSilu, as its namesake in CANN, is not told N, C and HxW. Of two kernels, one takes tensors with the channels last.
#include <cinttypes>

#include "checks.h"
#include "gn_group_norm.h"
#include "group_norm_nhwc_tiling.h"
#include "group_norm_tiling.h"
#include "layout.h"

namespace gn_host {
namespace {

struct GroupNormCall {
  const char* kernel;
  const char* kernel_last;  // the one for tensors with the channels last
  Argument self, gamma, beta, out, mean, rstd;
  Sizes sizes;
  double eps;
  bool from_self;  // whether N, C and HxW are read there
};

// N, C and HxW as the axes of self say.
Outcome ReadSizes(const Argument& self, Sizes* sizes) {
  const std::vector<int64_t>& dims = self->dims;
  if (dims.size() < 2)
    return Invalid(Text("self has shape %s; it needs 2 to 8 axes: (N, C, ...)", ShapeText(dims).c_str()));
  sizes->n = dims[0];
  sizes->c = dims[1];
  return Product(self, 2, dims.size(), &sizes->hxw);
}

// The first of these refusals that fits, in the order of docs/host-api.md: null pointers, types, sizes, shapes, memory.
Outcome Check(GroupNormCall* call) {
  auto& [kernel, kernel_last, self, gamma, beta, out, mean, rstd, sizes, eps, from_self] = *call;
  Outcome wrong = LookUp({&self, &out, &mean, &rstd}, {&self, &gamma, &beta, &out, &mean, &rstd});
  if (!wrong.Failed()) wrong = CheckSupported(self);
  if (!wrong.Failed()) wrong = CheckType({&gamma, &beta, &out}, self->dtype, "the type of self");
  if (!wrong.Failed()) wrong = CheckStatistics({&mean, &rstd}, self);
  if (!wrong.Failed() && from_self) wrong = ReadSizes(self, &sizes);
  if (!wrong.Failed()) wrong = CheckSizes(&sizes);
  if (!wrong.Failed()) wrong = CheckEps("eps", eps, "1e-5 is usual");
  if (wrong.Failed()) return wrong;

  const std::vector<int64_t>& dims = self->dims;
  Sizes own{};
  if (wrong = ReadSizes(self, &own); wrong.Failed()) return wrong;
  if (own.n != sizes.n || own.c != sizes.c || own.hxw != sizes.hxw) {
    return Invalid(Text("self has shape %s, which is not N = %" PRId64 ", C = %" PRId64 ", HxW = %" PRId64,
                        ShapeText(dims).c_str(), sizes.n, sizes.c, sizes.hxw),
                   "HxW is the product of all axes behind the second, 1 if there are none");
  }
  wrong = CheckShape({&gamma, &beta}, {sizes.c}, "one number for each channel");
  if (!wrong.Failed()) wrong = CheckShape({&out}, dims, "the shape of self");
  if (!wrong.Failed()) wrong = CheckShape({&mean, &rstd}, {sizes.n, sizes.groups}, "(N, group)");
  if (!wrong.Failed()) wrong = CheckOverlaps({&self, &gamma, &beta}, {&out, &mean, &rstd});
  return wrong;
}

// Adds the launch of a kernel on x and y as they are given here, once its tiling is made.
template <class Tiling>
Outcome AddKernel(const GroupNormCall& call, const char* kernel, const Tensor& x, const Tensor& y, const Tiling& tiling,
                  Executor* plan) {
  // gamma or beta: the tensor, or what stands for it where there is none.
  const auto affine = [&](const char* name, const Argument& argument, float value) {
    return argument ? plan->Input(name, *argument.tensor) : plan->Constant(name, call.self->dtype, call.sizes.c, value);
  };
  plan->Add(
      {kernel,
       tiling.usedCores,
       {plan->Input("x", x), affine("gamma", call.gamma, 1.0f), affine("beta", call.beta, 0.0f), plan->Output("y", &y),
        plan->FloatOutput("mean", *call.mean.tensor), plan->FloatOutput("rstd", *call.rstd.tensor),
        plan->Workspace(tiling.workspaceBytes), plan->TilingData(tiling)}});
  return plan->Finish();
}

Outcome Plan(GroupNormCall& call, Executor* plan) {
  const Sizes& sizes = call.sizes;
  const float eps = static_cast<float>(call.eps);
  const int32_t cores = static_cast<int32_t>(VectorCores());
  const Tensor &x = *call.self.tensor, &y = *call.out.tensor;
  GroupNormNhwcTilingData last{};
  // That kernel refuses groups of very many channels; those are packed.
  if (sizes.elements > 0 && ChannelsLastPays({&call.self, &call.out}) &&
      MakeGroupNormNhwcTiling(sizes.n, sizes.hxw, sizes.c, sizes.groups, eps, cores, x.dtype, &last) == nullptr)
    return AddKernel(call, call.kernel_last, ChannelsLast(x), ChannelsLast(y), last, plan);
  GroupNormTilingData tiling{};
  const char* const refused =
      MakeGroupNormKeyTiling(sizes.n, sizes.c, sizes.hxw, sizes.groups, eps, cores, x.dtype, &tiling);
  if (refused != nullptr) return Invalid(refused, "divide the work into several calls");
  if (tiling.usedCores == 0) return {};  // an empty batch: no output has an element
  return AddKernel(call, call.kernel, x, y, tiling, plan);
}

// The first call of both operators. from_self: whether N, C and HxW are read from there; `sizes` then has the groups only.
GnStatus FirstCall(const char* function, const char* op, const char* kernel, const char* kernel_last,
                   const GnTensor* self, const GnTensor* gamma, const GnTensor* beta, Sizes sizes, bool from_self,
                   double eps, GnTensor* out, GnTensor* mean, GnTensor* rstd, uint64_t* workspaceSize,
                   GnExecutor** executor) {
  return Prepare(function, op, workspaceSize, executor, [&](Executor* plan) -> Outcome {
    GroupNormCall call{kernel,         kernel_last,  {"self", self},    {"gamma", gamma},
                       {"beta", beta}, {"out", out}, {"meanOut", mean}, {"rstdOut", rstd},
                       sizes,          eps,          from_self};
    if (Outcome wrong = Check(&call); wrong.Failed()) return wrong;
    return Plan(call, plan);
  });
}

}  // namespace
}  // namespace gn_host

extern "C" GnStatus GroupNormGetWorkspaceSize(const GnTensor* self, const GnTensor* gamma, const GnTensor* beta,
                                              int64_t N, int64_t C, int64_t HxW, int64_t group, double eps,
                                              GnTensor* out, GnTensor* meanOut, GnTensor* rstdOut,
                                              uint64_t* workspaceSize, GnExecutor** executor) {
  return gn_host::FirstCall("GroupNormGetWorkspaceSize", "GroupNorm", "group_norm_any", "group_norm_nhwc", self, gamma,
                            beta, {N, C, HxW, group}, false, eps, out, meanOut, rstdOut, workspaceSize, executor);
}

extern "C" GnStatus GroupNorm(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("GroupNorm", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus GroupNormSiluGetWorkspaceSize(const GnTensor* self, const GnTensor* gamma, const GnTensor* beta,
                                                  int64_t group, double eps, GnTensor* out, GnTensor* meanOut,
                                                  GnTensor* rstdOut, uint64_t* workspaceSize, GnExecutor** executor) {
  return gn_host::FirstCall("GroupNormSiluGetWorkspaceSize", "GroupNormSilu", "group_norm_silu", "group_norm_silu_nhwc",
                            self, gamma, beta, {0, 0, 0, group}, true, eps, out, meanOut, rstdOut, workspaceSize,
                            executor);
}

extern "C" GnStatus GroupNormSilu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("GroupNormSilu", workspace, workspaceSize, executor, stream);
}
