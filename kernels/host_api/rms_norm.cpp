// RMSNorm, also of a sum, forward and backward: what the first calls refuse, and what they plan.
#include "rms_norm_tiling.h"

#include <algorithm>
#include <utility>

#include "checks.h"
#include "gn_rms_norm.h"

namespace gn_host {
namespace {

// x is (R, K): K is the product of gamma's axes, which are the last of x, and R that of the others.
struct RowsShape {
  int64_t rows, length;
  std::vector<int64_t> outer;  // the axes of which R is the product
};

// more, sum: what AddRmsNorm alone has, another summand and the sum of both.
struct RmsNormCall {
  Argument x, more, gamma, y, rstd, sum;
  double eps;
  RowsShape shape;
};

// dsum: what AddRmsNormGrad alone has.
struct RmsNormGradCall {
  Argument dy, dsum, x, rstd, gamma, dx, dgamma;
  RowsShape shape;
};

// Those that the operator has: an argument that it has not is without a name.
Arguments Named(Arguments all) {
  all.erase(std::remove_if(all.begin(), all.end(), [](const Argument* one) { return one->name == nullptr; }),
            all.end());
  return all;
}

// R and K as the axes of x and gamma say.
Outcome ReadShape(const Argument& x, const Argument& gamma, RowsShape* shape) {
  const std::vector<int64_t>&dims = x->dims, &last = gamma->dims;
  if (dims.empty()) return Invalid(Text("%s has shape (); it needs 1 to 8 axes: a row is its last ones", x.name));
  if (last.empty() || last.size() > dims.size() || !std::equal(last.rbegin(), last.rend(), dims.rbegin())) {
    return Invalid(Text("gamma has shape %s, which is not the end of %s's, %s", ShapeText(last).c_str(), x.name,
                        ShapeText(dims).c_str()),
                   Text("describe gamma with the last axes of %s, one of them at least", x.name));
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
  auto& [x, more, gamma, y, rstd, sum, eps, shape] = *call;
  const Arguments all = Named({&x, &more, &gamma, &y, &rstd, &sum});
  Outcome wrong = LookUp(all, all);
  if (!wrong.Failed()) wrong = CheckSupported(x);
  const std::string its = Text(" of %s", x.name);
  if (!wrong.Failed()) wrong = CheckType(Named({&more, &gamma, &y, &sum}), x->dtype, ("the type" + its).c_str());
  if (!wrong.Failed()) wrong = CheckType({&rstd}, GN_FLOAT, ("whatever the type" + its + " is").c_str());
  if (!wrong.Failed()) wrong = ReadShape(x, gamma, &shape);
  if (!wrong.Failed()) wrong = CheckEps("epsilon", eps, "1e-6 is usual");
  if (!wrong.Failed()) wrong = CheckShape(Named({&more, &y, &sum}), x->dims, ("the shape" + its).c_str());
  if (!wrong.Failed())
    wrong = CheckShape({&rstd}, RstdDims(x, shape), ("the shape" + its + ", with ones for the axes of gamma").c_str());
  if (!wrong.Failed()) wrong = CheckOverlaps(Named({&x, &more, &gamma}), Named({&y, &rstd, &sum}));
  return wrong;
}

Outcome Check(RmsNormGradCall* call) {
  auto& [dy, dsum, x, rstd, gamma, dx, dgamma, shape] = *call;
  const Arguments all = Named({&dy, &dsum, &x, &rstd, &gamma, &dx, &dgamma});
  Outcome wrong = LookUp(all, all);
  if (!wrong.Failed()) wrong = CheckSupported(dy);
  if (!wrong.Failed()) wrong = CheckType(Named({&dsum, &x, &gamma, &dx}), dy->dtype, "the type of dy");
  if (!wrong.Failed()) wrong = CheckType({&rstd}, GN_FLOAT, "as the forward pass saves it");
  if (!wrong.Failed())
    wrong = CheckType({&dgamma}, GN_FLOAT, "whatever the type of gamma is: it is a sum over all rows");
  if (!wrong.Failed()) wrong = ReadShape(x, gamma, &shape);
  if (!wrong.Failed()) wrong = CheckShape(Named({&dy, &dsum, &dx}), x->dims, "the shape of x");
  // Its page says that it has no axis for those of gamma; the forward pass returns axes of length 1 there.
  if (!wrong.Failed() && rstd->dims != shape.outer)
    wrong =
        CheckShape({&rstd}, RstdDims(x, shape), "the shape of x, with ones for the axes of gamma, or without these");
  if (!wrong.Failed()) wrong = CheckShape({&dgamma}, gamma->dims, "the shape of gamma");
  if (!wrong.Failed()) wrong = CheckOverlaps(Named({&dy, &dsum, &x, &rstd, &gamma}), {&dx, &dgamma});
  return wrong;
}

// Those that were given, by the kernel's names and in its order.
using Names = std::vector<std::pair<const char*, const Argument*>>;

std::vector<PlannedArg> Operands(Executor* plan, const Names& inputs, const Names& outputs) {
  std::vector<PlannedArg> args;
  for (const auto& [name, one] : inputs) {
    if (*one) args.push_back(plan->Input(name, *one->tensor));
  }
  for (const auto& [name, one] : outputs) {
    if (*one) args.push_back(plan->Output(name, one->tensor.get()));
  }
  return args;
}

constexpr const char* kTooLarge = "divide the work into several calls";

Outcome Plan(const RmsNormCall& call, Executor* plan) {
  RmsNormTilingData tiling{};
  const char* const refused = MakeRmsNormTiling(call.shape.rows, call.shape.length, static_cast<float>(call.eps),
                                                static_cast<int32_t>(VectorCores()), call.x->dtype, &tiling);
  if (refused != nullptr) return Invalid(refused, kTooLarge);
  if (tiling.usedCores == 0) return {};  // no row
  std::vector<PlannedArg> args = Operands(plan, {{"x", &call.x}, {"residual", &call.more}, {"gamma", &call.gamma}},
                                          {{"y", &call.y}, {"sum", &call.sum}, {"rstd", &call.rstd}});
  args.push_back(plan->TilingData(tiling));
  plan->Add({call.more ? "add_rms_norm_kernel" : "rms_norm_kernel", tiling.usedCores, args});
  return plan->Finish();
}

Outcome Plan(const RmsNormGradCall& call, Executor* plan) {
  RmsNormBackwardTilingData tiling{};
  const char* const refused = MakeRmsNormBackwardTiling(call.shape.rows, call.shape.length,
                                                        static_cast<int32_t>(VectorCores()), call.x->dtype, &tiling);
  if (refused != nullptr) return Invalid(refused, kTooLarge);
  std::vector<PlannedArg> args = Operands(
      plan, {{"dy", &call.dy}, {"dsum", &call.dsum}, {"x", &call.x}, {"rstd", &call.rstd}, {"gamma", &call.gamma}},
      {{"dx", &call.dx}, {"dgamma", &call.dgamma}});
  args.push_back(plan->Workspace(tiling.workspaceBytes));
  args.push_back(plan->TilingData(tiling));
  plan->Add({call.dsum ? "add_rms_norm_backward_kernel" : "rms_norm_backward_kernel", tiling.usedCores, args});
  return plan->Finish();
}

template <class Call>
Outcome PlanAfterCheck(Call call, Executor* plan) {
  Outcome wrong = Check(&call);
  return wrong.Failed() ? wrong : Plan(call, plan);
}

const Argument kAbsent{nullptr, nullptr};  // what the operator has not

}  // namespace
}  // namespace gn_host

extern "C" GnStatus RmsNormGetWorkspaceSize(const GnTensor* x, const GnTensor* gamma, double epsilon, GnTensor* yOut,
                                            GnTensor* rstdOut, uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  return Prepare("RmsNormGetWorkspaceSize", "RmsNorm", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    return PlanAfterCheck(
        RmsNormCall{{"x", x}, kAbsent, {"gamma", gamma}, {"yOut", yOut}, {"rstdOut", rstdOut}, kAbsent, epsilon, {}},
        plan);
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
    return PlanAfterCheck(RmsNormGradCall{{"dy", dy},
                                          kAbsent,
                                          {"x", x},
                                          {"rstd", rstd},
                                          {"gamma", gamma},
                                          {"dxOut", dxOut},
                                          {"dgammaOut", dgammaOut},
                                          {}},
                          plan);
  });
}

extern "C" GnStatus RmsNormGrad(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("RmsNormGrad", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus AddRmsNormGetWorkspaceSize(const GnTensor* x1, const GnTensor* x2, const GnTensor* gamma,
                                               double epsilon, GnTensor* yOut, GnTensor* rstdOut, GnTensor* xOut,
                                               uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  return Prepare("AddRmsNormGetWorkspaceSize", "AddRmsNorm", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    return PlanAfterCheck(RmsNormCall{{"x1", x1},
                                      {"x2", x2},
                                      {"gamma", gamma},
                                      {"yOut", yOut},
                                      {"rstdOut", rstdOut},
                                      {"xOut", xOut},
                                      epsilon,
                                      {}},
                          plan);
  });
}

extern "C" GnStatus AddRmsNorm(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("AddRmsNorm", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus AddRmsNormGradGetWorkspaceSize(const GnTensor* dy, const GnTensor* dsum, const GnTensor* x,
                                                   const GnTensor* rstd, const GnTensor* gamma, GnTensor* dxOut,
                                                   GnTensor* dgammaOut, uint64_t* workspaceSize,
                                                   GnExecutor** executor) {
  using namespace gn_host;
  constexpr const char* kFirst = "AddRmsNormGradGetWorkspaceSize";
  return Prepare(kFirst, "AddRmsNormGrad", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    return PlanAfterCheck(RmsNormGradCall{{"dy", dy},
                                          {"dsum", dsum},
                                          {"x", x},
                                          {"rstd", rstd},
                                          {"gamma", gamma},
                                          {"dxOut", dxOut},
                                          {"dgammaOut", dgammaOut},
                                          {}},
                          plan);
  });
}

extern "C" GnStatus AddRmsNormGrad(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("AddRmsNormGrad", workspace, workspaceSize, executor, stream);
}
