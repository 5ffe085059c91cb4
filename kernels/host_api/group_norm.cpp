// GroupNorm, forward, alone and with SiLU behind it: what the first call refuses, and what it plans. The two differ in the kernel, and
// in that GroupNormSilu, as its namesake in CANN, is not told N, C and HxW.
#include <cinttypes>

#include "checks.h"
#include "group_norm_tiling.h"

namespace gn_host {
namespace {

struct Call {
  const char* kernel;
  Argument self, gamma, beta, out, mean, rstd;
  Sizes sizes;
  double eps;
  bool sizes_from_self;  // all but the number of groups
};

// N, C and HxW as the axes of self say.
Outcome ReadSizes(const Argument& self, Sizes* sizes) {
  const std::vector<int64_t>& dims = self->dims;
  if (dims.size() < 2)
    return Invalid(Text("self has shape %s; it needs 2 to 8 axes: (N, C, ...)", ShapeText(dims).c_str()));
  int64_t spatial = 1;
  bool empty = false;
  for (size_t axis = 2; axis < dims.size(); ++axis) empty = empty || dims[axis] == 0;
  for (size_t axis = 2; axis < dims.size() && !empty; ++axis)
    if (__builtin_mul_overflow(spatial, dims[axis], &spatial)) return Invalid("the axes of self behind C are too long");
  sizes->n = dims[0];
  sizes->c = dims[1];
  sizes->hxw = empty ? 0 : spatial;
  return {};
}

// The first of these refusals that fits, in the order of docs/host-api.md: null pointers, types, sizes, shapes, memory.
Outcome Check(Call* call) {
  auto& [kernel, self, gamma, beta, out, mean, rstd, sizes, eps, sizes_from_self] = *call;
  Outcome wrong = NeedAll({&self, &out, &mean, &rstd});
  if (!wrong.Failed()) wrong = LookUp({&self, &gamma, &beta, &out, &mean, &rstd});
  if (!wrong.Failed()) wrong = NeedData({&self, &gamma, &beta, &out, &mean, &rstd});
  if (!wrong.Failed()) wrong = CheckSupported(self);
  for (const Argument* one : {&gamma, &beta, &out})
    if (!wrong.Failed()) wrong = CheckType(*one, self->dtype, "the type of self");
  for (const Argument* one : {&mean, &rstd})
    if (!wrong.Failed()) wrong = CheckType(*one, GN_FLOAT, "whatever the type of self is");
  if (!wrong.Failed() && sizes_from_self) wrong = ReadSizes(self, &sizes);
  if (!wrong.Failed()) wrong = CheckSizes(&sizes);
  if (wrong.Failed()) return wrong;
  // As the kernel gets it: 1e-50 is positive, and 0 as a float.
  if (!(static_cast<float>(eps) > 0.0f) || eps > 3.0e38)
    return Invalid(Text("eps is %g; it must be positive and finite as float32", eps), "1e-5 is usual");

  const std::vector<int64_t>& dims = self->dims;
  Sizes own{};
  if (wrong = ReadSizes(self, &own); wrong.Failed()) return wrong;
  if (own.n != sizes.n || own.c != sizes.c || own.hxw != sizes.hxw) {
    return Invalid(Text("self has shape %s, which is not N = %" PRId64 ", C = %" PRId64 ", HxW = %" PRId64,
                        ShapeText(dims).c_str(), sizes.n, sizes.c, sizes.hxw),
                   "HxW is the product of all axes behind the second, 1 if there are none");
  }
  for (const Argument* one : {&gamma, &beta})
    if (!wrong.Failed()) wrong = CheckShape(*one, {sizes.c}, "one number for each channel");
  if (!wrong.Failed()) wrong = CheckShape(out, dims, "the shape of self");
  for (const Argument* one : {&mean, &rstd})
    if (!wrong.Failed()) wrong = CheckShape(*one, {sizes.n, sizes.groups}, "(N, group)");
  if (!wrong.Failed()) wrong = CheckOverlaps({&self, &gamma, &beta}, {&out, &mean, &rstd});
  return wrong;
}

// gamma or beta: the tensor, or what stands for it where there is none.
Outcome Affine(Executor* plan, const Argument& argument, const Call& call, float value, Place* place) {
  if (argument) return plan->Input(*argument.tensor, place);
  *place = plan->Constant(call.self->dtype, call.sizes.c, value);
  return {};
}

Outcome Plan(const Call& call, Executor* plan) {
  const Sizes& sizes = call.sizes;
  GroupNormTilingData tiling{};
  const char* const refused =
      MakeGroupNormKeyTiling(sizes.n, sizes.c, sizes.hxw, sizes.groups, static_cast<float>(call.eps),
                             static_cast<int32_t>(VectorCores()), call.self->dtype, &tiling);
  if (refused != nullptr) return Invalid(refused, "divide the work into several calls");
  if (tiling.usedCores == 0) return {};  // an empty batch: no output has an element
  Place x, gamma, beta, y, mean, rstd;
  Outcome wrong = plan->Input(*call.self.tensor, &x);
  if (!wrong.Failed()) wrong = Affine(plan, call.gamma, call, 1.0f, &gamma);
  if (!wrong.Failed()) wrong = Affine(plan, call.beta, call, 0.0f, &beta);
  if (!wrong.Failed()) wrong = plan->Output(*call.out.tensor, &y);
  if (!wrong.Failed()) wrong = plan->Output(*call.mean.tensor, &mean);
  if (!wrong.Failed()) wrong = plan->Output(*call.rstd.tensor, &rstd);
  if (wrong.Failed()) return wrong;
  const uint64_t item = call.self->ItemBytes(), all = static_cast<uint64_t>(sizes.elements) * item;
  const uint64_t channels = static_cast<uint64_t>(sizes.c) * item;
  const uint64_t statistics = static_cast<uint64_t>(sizes.statistics) * sizeof(float);
  plan->Add({call.kernel,
             tiling.usedCores,
             {{"x", Role::kIn, x, all},
              {"gamma", Role::kIn, gamma, channels},
              {"beta", Role::kIn, beta, channels},
              {"y", Role::kOut, y, all},
              {"mean", Role::kOut, mean, statistics},
              {"rstd", Role::kOut, rstd, statistics},
              {"workspace", Role::kWorkspace, plan->Room(tiling.workspaceBytes), tiling.workspaceBytes},
              plan->TilingData(tiling)}});
  return plan->Finish();
}

Outcome CheckAndPlan(Call call, Executor* plan) {
  if (Outcome wrong = Check(&call); wrong.Failed()) return wrong;
  return Plan(call, plan);
}

}  // namespace
}  // namespace gn_host

extern "C" GnStatus GroupNormGetWorkspaceSize(const GnTensor* self, const GnTensor* gamma, const GnTensor* beta,
                                              int64_t N, int64_t C, int64_t HxW, int64_t group, double eps,
                                              GnTensor* out, GnTensor* meanOut, GnTensor* rstdOut,
                                              uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  constexpr const char* kFirst = "GroupNormGetWorkspaceSize";
  return Prepare(kFirst, "GroupNorm", workspaceSize, executor, [&](Executor* plan) {
    return CheckAndPlan({"group_norm_any",
                         {"self", self},
                         {"gamma", gamma},
                         {"beta", beta},
                         {"out", out},
                         {"meanOut", meanOut},
                         {"rstdOut", rstdOut},
                         {N, C, HxW, group},
                         eps,
                         false},
                        plan);
  });
}

extern "C" GnStatus GroupNorm(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("GroupNorm", "GroupNorm", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus GroupNormSiluGetWorkspaceSize(const GnTensor* self, const GnTensor* gamma, const GnTensor* beta,
                                                  int64_t group, double eps, GnTensor* out, GnTensor* meanOut,
                                                  GnTensor* rstdOut, uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  constexpr const char* kFirst = "GroupNormSiluGetWorkspaceSize";
  return Prepare(kFirst, "GroupNormSilu", workspaceSize, executor, [&](Executor* plan) {
    return CheckAndPlan({"group_norm_silu",
                         {"self", self},
                         {"gamma", gamma},
                         {"beta", beta},
                         {"out", out},
                         {"meanOut", meanOut},
                         {"rstdOut", rstdOut},
                         {0, 0, 0, group},
                         eps,
                         true},
                        plan);
  });
}

extern "C" GnStatus GroupNormSilu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("GroupNormSilu", "GroupNormSilu", workspace, workspaceSize, executor, stream);
}
