// RMSNorm, forward and backward: what the first calls refuse, and what they plan.
#include "rms_norm_tiling.h"

#include <algorithm>

#include "checks.h"
#include "gn_rms_norm.h"

namespace gn_host {
namespace {

// x is (R, K): K is the product of gamma's axes, which are the last of x, and R that of the others.
struct RowsShape {
  int64_t rows, length;
  std::vector<int64_t> outer;  // the axes of which R is the product
};

struct RmsNormCall {
  Argument x, gamma, y, rstd;
  double eps;
  RowsShape shape;
};

struct RmsNormGradCall {
  Argument dy, x, rstd, gamma, dx, dgamma;
  RowsShape shape;
};

// R and K as the axes of x and gamma say.
Outcome ReadShape(const Argument& x, const Argument& gamma, RowsShape* shape) {
  const std::vector<int64_t>&dims = x->dims, &last = gamma->dims;
  if (dims.empty()) return Invalid("x has shape (); it needs 1 to 8 axes: a row is its last ones");
  if (last.empty() || last.size() > dims.size() || !std::equal(last.rbegin(), last.rend(), dims.rbegin())) {
    return Invalid(
        Text("gamma has shape %s, which is not the end of x's, %s", ShapeText(last).c_str(), ShapeText(dims).c_str()),
        "describe gamma with the last axes of x, one of them at least");
  }
  const size_t outer = dims.size() - last.size();
  shape->outer.assign(dims.begin(), dims.begin() + static_cast<int64_t>(outer));
  Outcome wrong = Product(x, 0, outer, &shape->rows);
  if (!wrong.Failed()) wrong = Product(x, outer, dims.size(), &shape->length);
  if (!wrong.Failed() && shape->length == 0)
    return Invalid(Text("gamma has shape %s: a row without elements has no mean", ShapeText(last).c_str()));
  return wrong;
}

// As many axes as x has, those of gamma 1 long: what the forward pass returns.
std::vector<int64_t> RstdDims(const Argument& x, const RowsShape& shape) {
  std::vector<int64_t> dims = shape.outer;
  dims.resize(x->dims.size(), 1);
  return dims;
}

// The first of these refusals that fits, in the order of docs/host-api.md: null pointers, types, shapes, eps, memory.
Outcome Check(RmsNormCall* call) {
  auto& [x, gamma, y, rstd, eps, shape] = *call;
  const Arguments all{&x, &gamma, &y, &rstd};
  Outcome wrong = LookUp(all, all);
  if (!wrong.Failed()) wrong = CheckSupported(x);
  if (!wrong.Failed()) wrong = CheckType({&gamma, &y}, x->dtype, "the type of x");
  if (!wrong.Failed()) wrong = CheckType({&rstd}, GN_FLOAT, "whatever the type of x is");
  if (!wrong.Failed()) wrong = ReadShape(x, gamma, &shape);
  if (!wrong.Failed()) wrong = CheckEps("epsilon", eps, "1e-6 is usual");
  if (!wrong.Failed()) wrong = CheckShape({&y}, x->dims, "the shape of x");
  if (!wrong.Failed())
    wrong = CheckShape({&rstd}, RstdDims(x, shape), "the shape of x, with ones for the axes of gamma");
  if (!wrong.Failed()) wrong = CheckOverlaps({&x, &gamma}, {&y, &rstd});
  return wrong;
}

Outcome Check(RmsNormGradCall* call) {
  auto& [dy, x, rstd, gamma, dx, dgamma, shape] = *call;
  const Arguments all{&dy, &x, &rstd, &gamma, &dx, &dgamma};
  Outcome wrong = LookUp(all, all);
  if (!wrong.Failed()) wrong = CheckSupported(dy);
  if (!wrong.Failed()) wrong = CheckType({&x, &gamma, &dx}, dy->dtype, "the type of dy");
  if (!wrong.Failed()) wrong = CheckType({&rstd}, GN_FLOAT, "as the forward pass saves it");
  if (!wrong.Failed())
    wrong = CheckType({&dgamma}, GN_FLOAT, "whatever the type of gamma is: it is a sum over all rows");
  if (!wrong.Failed()) wrong = ReadShape(x, gamma, &shape);
  if (!wrong.Failed()) wrong = CheckShape({&dy, &dx}, x->dims, "the shape of x");
  // Its page says that it has no axis for those of gamma; the forward pass returns axes of length 1 there.
  if (!wrong.Failed() && rstd->dims != shape.outer)
    wrong =
        CheckShape({&rstd}, RstdDims(x, shape), "the shape of x, with ones for the axes of gamma, or without these");
  if (!wrong.Failed()) wrong = CheckShape({&dgamma}, gamma->dims, "the shape of gamma");
  if (!wrong.Failed()) wrong = CheckOverlaps({&dy, &x, &rstd, &gamma}, {&dx, &dgamma});
  return wrong;
}

constexpr const char* kTooLarge = "divide the work into several calls";

Outcome Plan(const RmsNormCall& call, Executor* plan) {
  RmsNormTilingData tiling{};
  const char* const refused = MakeRmsNormTiling(call.shape.rows, call.shape.length, static_cast<float>(call.eps),
                                                static_cast<int32_t>(VectorCores()), call.x->dtype, &tiling);
  if (refused != nullptr) return Invalid(refused, kTooLarge);
  if (tiling.usedCores == 0) return {};  // no row
  plan->Add({"rms_norm_kernel",
             tiling.usedCores,
             {plan->Input("x", *call.x.tensor), plan->Input("gamma", *call.gamma.tensor),
              plan->Output("y", call.y.tensor.get()), plan->Output("rstd", call.rstd.tensor.get()),
              plan->TilingData(tiling)}});
  return plan->Finish();
}

Outcome Plan(const RmsNormGradCall& call, Executor* plan) {
  RmsNormBackwardTilingData tiling{};
  const char* const refused = MakeRmsNormBackwardTiling(call.shape.rows, call.shape.length,
                                                        static_cast<int32_t>(VectorCores()), call.x->dtype, &tiling);
  if (refused != nullptr) return Invalid(refused, kTooLarge);
  plan->Add({"rms_norm_backward_kernel",
             tiling.usedCores,
             {plan->Input("dy", *call.dy.tensor), plan->Input("x", *call.x.tensor),
              plan->Input("rstd", *call.rstd.tensor), plan->Input("gamma", *call.gamma.tensor),
              plan->Output("dx", call.dx.tensor.get()), plan->Output("dgamma", call.dgamma.tensor.get()),
              plan->Workspace(tiling.workspaceBytes), plan->TilingData(tiling)}});
  return plan->Finish();
}

}  // namespace
}  // namespace gn_host

extern "C" GnStatus RmsNormGetWorkspaceSize(const GnTensor* x, const GnTensor* gamma, double epsilon, GnTensor* yOut,
                                            GnTensor* rstdOut, uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  return Prepare("RmsNormGetWorkspaceSize", "RmsNorm", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    RmsNormCall call{{"x", x}, {"gamma", gamma}, {"yOut", yOut}, {"rstdOut", rstdOut}, epsilon, {}};
    if (Outcome wrong = Check(&call); wrong.Failed()) return wrong;
    return Plan(call, plan);
  });
}

extern "C" GnStatus RmsNorm(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("RmsNorm", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus RmsNormGradGetWorkspaceSize(const GnTensor* dy, const GnTensor* x, const GnTensor* rstd,
                                                const GnTensor* gamma, GnTensor* dxOut, GnTensor* dgammaOut,
                                                uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  constexpr const char* kFirst = "RmsNormGradGetWorkspaceSize";
  return Prepare(kFirst, "RmsNormGrad", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    RmsNormGradCall call{
        {"dy", dy}, {"x", x}, {"rstd", rstd}, {"gamma", gamma}, {"dxOut", dxOut}, {"dgammaOut", dgammaOut}, {}};
    if (Outcome wrong = Check(&call); wrong.Failed()) return wrong;
    return Plan(call, plan);
  });
}

extern "C" GnStatus RmsNormGrad(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("RmsNormGrad", workspace, workspaceSize, executor, stream);
}
