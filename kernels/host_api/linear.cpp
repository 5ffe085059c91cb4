// Linear, alone and with GELU, forward and backward: what the first calls refuse, and what they plan.
#include "linear_tiling.h"

#include "checks.h"
#include "gn_linear.h"

namespace gn_host {
namespace {

static_assert(kLinearWantDx == 1 && kLinearWantWeight == 2 && kLinearWantBias == 4, "as WantedBits says");
static_assert(kLinearWantResult == 1 && kLinearWantSaved == 2, "as WantedBits says");

// x is (R, K), whatever the axes are of which R is the product; W is (O, K).
struct LinearShape {
  int64_t rows, in, out;
};

// With GELU or without: without there is no pre-activation, whose handle is null.
struct LinearCall {
  Argument input, weight, bias, out, preactivation;
  bool gelu;
  int64_t approximate;
  LinearShape shape;
};

struct LinearBackwardCall {
  Argument grad_out, preactivation, input, weight, grad_input, grad_weight, grad_bias;
  bool gelu;
  int64_t approximate;
  LinearShape shape;
};

// R, K and O as the axes of input and weight say.
Outcome ReadShape(const Argument& input, Argument* weight, LinearShape* shape) {
  const std::vector<int64_t>&dims = input->dims, &rows = (*weight)->dims;
  if (dims.empty()) return Invalid("input has shape (); it needs 1 to 8 axes: (..., K)");
  if (rows.size() != 2) {
    return Invalid(Text("weight has shape %s; it needs 2 axes: (O, K)", ShapeText(rows).c_str()),
                   "a row of weight for each element of the last axis of the result");
  }
  shape->in = dims.back();
  shape->out = rows.front();
  Outcome wrong = CheckShape({weight}, {shape->out, shape->in}, "a column for each element of the last axis of input");
  if (!wrong.Failed()) wrong = Product(input, 0, dims.size() - 1, &shape->rows);
  return wrong;
}

// (..., O): the shape of the result, and of its gradient.
std::vector<int64_t> ResultDims(const Argument& input, const LinearShape& shape) {
  std::vector<int64_t> dims = input->dims;
  dims.back() = shape.out;
  return dims;
}

constexpr const char* kLinearResult = "the shape of input, with the rows of weight as its last axis";
constexpr const char* kLinearBias = "one number for each row of weight";

// The first of these refusals that fits, in the order of docs/host-api.md: null pointers, types, shapes, memory.
Outcome Check(LinearCall* call) {
  auto& [input, weight, bias, out, preactivation, gelu, approximate, shape] = *call;
  Outcome wrong = NeedAll({&input, &weight, &out});
  if (!wrong.Failed()) wrong = CheckGeluForm(approximate);
  if (!wrong.Failed()) wrong = LookUp({&input, &weight, &out}, {&input, &weight, &bias, &out, &preactivation});
  if (!wrong.Failed()) wrong = CheckSupported(input);
  if (!wrong.Failed()) wrong = CheckType({&weight, &bias, &out, &preactivation}, input->dtype, "the type of input");
  if (!wrong.Failed()) wrong = ReadShape(input, &weight, &shape);
  if (!wrong.Failed()) wrong = CheckShape({&bias}, {shape.out}, kLinearBias);
  if (!wrong.Failed()) wrong = CheckShape({&out, &preactivation}, ResultDims(input, shape), kLinearResult);
  if (!wrong.Failed()) wrong = CheckOverlaps({&input, &weight, &bias}, {&out, &preactivation});
  return wrong;
}

Outcome Check(const uint8_t* mask, uint64_t mask_size, LinearBackwardCall* call) {
  auto& [grad_out, preactivation, input, weight, grad_input, grad_weight, grad_bias, gelu, approximate, shape] = *call;
  const Arguments gradients{&grad_input, &grad_weight, &grad_bias};
  Arguments needed{&grad_out, &input, &weight};
  if (gelu) needed.insert(needed.begin() + 1, &preactivation);
  Arguments all = needed;
  all.insert(all.end(), gradients.begin(), gradients.end());
  Outcome wrong = NeedAll(needed);
  if (!wrong.Failed()) wrong = CheckGeluForm(approximate);
  if (!wrong.Failed()) wrong = ReadMask(mask, mask_size, gradients);
  if (!wrong.Failed()) wrong = LookUp(needed, all);
  if (!wrong.Failed()) wrong = CheckSupported(grad_out);
  if (!wrong.Failed()) wrong = CheckType({all.begin() + 1, all.end()}, grad_out->dtype, "the type of gradOut");
  if (!wrong.Failed()) wrong = ReadShape(input, &weight, &shape);
  if (!wrong.Failed()) wrong = CheckShape({&grad_out, &preactivation}, ResultDims(input, shape), kLinearResult);
  if (!wrong.Failed()) wrong = CheckShape({&grad_input}, input->dims, "the shape of input");
  if (!wrong.Failed()) wrong = CheckShape({&grad_weight}, weight->dims, "the shape of weight");
  if (!wrong.Failed()) wrong = CheckShape({&grad_bias}, {shape.out}, kLinearBias);
  if (!wrong.Failed()) wrong = CheckOverlaps(needed, gradients);
  return wrong;
}

Outcome Plan(LinearCall& call, Executor* plan) {
  const auto& [rows, in, out] = call.shape;
  LinearTilingData tiling{};
  const char* const refused =
      MakeLinearTiling(rows, in, out, static_cast<int32_t>(VectorCores()), call.input->dtype, &tiling);
  if (refused != nullptr) return Invalid(refused, "divide the work into several calls");
  if (tiling.usedCores == 0) return {};  // the result has no element
  PlannedLaunch launch{
      call.gelu ? "linear_gelu_kernel" : "linear_kernel",
      tiling.usedCores,
      {plan->Input("x", *call.input.tensor), plan->Input("weight", *call.weight.tensor),
       call.bias ? plan->Input("bias", *call.bias.tensor) : plan->Constant("bias", call.input->dtype, out, 0.0f),
       plan->Output("y", call.out.tensor.get())}};
  if (call.gelu) {
    launch.args.push_back(plan->Output("preactivation", call.preactivation.tensor.get()));
    launch.args.push_back(plan->Number("approximate", static_cast<uint32_t>(call.approximate)));
    launch.args.push_back(plan->Number("wanted", WantedBits({&call.out, &call.preactivation})));
  }
  launch.args.push_back(plan->TilingData(tiling));
  plan->Add(std::move(launch));
  return plan->Finish();
}

Outcome Plan(LinearBackwardCall& call, Executor* plan) {
  const auto& [rows, in, out] = call.shape;
  const uint32_t wanted = WantedBits({&call.grad_input, &call.grad_weight, &call.grad_bias});
  LinearBackwardTilingData tiling{};
  const char* const refused = MakeLinearBackwardTiling(rows, in, out, static_cast<int32_t>(VectorCores()),
                                                       static_cast<int32_t>(wanted), call.input->dtype, &tiling);
  if (refused != nullptr) return Invalid(refused, "divide the work into several calls");
  if (tiling.usedCores == 0) return {};  // nothing is wanted, or it has no element
  PlannedLaunch launch{call.gelu ? "linear_gelu_backward_kernel" : "linear_backward_kernel", tiling.usedCores, {}};
  launch.args.push_back(plan->Input("dy", *call.grad_out.tensor));
  if (call.gelu) launch.args.push_back(plan->Input("preactivation", *call.preactivation.tensor));
  launch.args.push_back(plan->Input("x", *call.input.tensor));
  launch.args.push_back(plan->Input("weight", *call.weight.tensor));
  launch.args.push_back(plan->Output("dx", call.grad_input.tensor.get()));
  launch.args.push_back(plan->Output("dweight", call.grad_weight.tensor.get()));
  launch.args.push_back(plan->Output("dbias", call.grad_bias.tensor.get()));
  if (call.gelu) launch.args.push_back(plan->Number("approximate", static_cast<uint32_t>(call.approximate)));
  launch.args.push_back(plan->TilingData(tiling));
  plan->Add(std::move(launch));
  return plan->Finish();
}

}  // namespace
}  // namespace gn_host

extern "C" GnStatus LinearGetWorkspaceSize(const GnTensor* input, const GnTensor* weight, const GnTensor* bias,
                                           GnTensor* out, uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  return Prepare("LinearGetWorkspaceSize", "Linear", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    LinearCall call{{"input", input},
                    {"weight", weight},
                    {"bias", bias},
                    {"out", out},
                    {"preactivationOut", nullptr},
                    false,
                    0,
                    {}};
    if (Outcome wrong = Check(&call); wrong.Failed()) return wrong;
    return Plan(call, plan);
  });
}

extern "C" GnStatus Linear(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("Linear", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus LinearBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* input,
                                                   const GnTensor* weight, const uint8_t* outputMask,
                                                   uint64_t outputMaskSize, GnTensor* gradInput, GnTensor* gradWeight,
                                                   GnTensor* gradBias, uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  constexpr const char* kFirst = "LinearBackwardGetWorkspaceSize";
  return Prepare(kFirst, "LinearBackward", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    LinearBackwardCall call{{"gradOut", gradOut},
                            {"preactivation", nullptr},
                            {"input", input},
                            {"weight", weight},
                            {"gradInput", gradInput},
                            {"gradWeight", gradWeight},
                            {"gradBias", gradBias},
                            false,
                            0,
                            {}};
    if (Outcome wrong = Check(outputMask, outputMaskSize, &call); wrong.Failed()) return wrong;
    return Plan(call, plan);
  });
}

extern "C" GnStatus LinearBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("LinearBackward", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus LinearGeluGetWorkspaceSize(const GnTensor* input, const GnTensor* weight, const GnTensor* bias,
                                               int64_t approximate, GnTensor* out, GnTensor* preactivationOut,
                                               uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  return Prepare("LinearGeluGetWorkspaceSize", "LinearGelu", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    LinearCall call{{"input", input},
                    {"weight", weight},
                    {"bias", bias},
                    {"out", out},
                    {"preactivationOut", preactivationOut},
                    true,
                    approximate,
                    {}};
    if (Outcome wrong = Check(&call); wrong.Failed()) return wrong;
    return Plan(call, plan);
  });
}

extern "C" GnStatus LinearGelu(void* workspace, uint64_t workspaceSize, GnExecutor* executor, GnStream* stream) {
  return gn_host::Execute("LinearGelu", workspace, workspaceSize, executor, stream);
}

extern "C" GnStatus LinearGeluBackwardGetWorkspaceSize(const GnTensor* gradOut, const GnTensor* preactivation,
                                                       const GnTensor* input, const GnTensor* weight,
                                                       int64_t approximate, const uint8_t* outputMask,
                                                       uint64_t outputMaskSize, GnTensor* gradInput,
                                                       GnTensor* gradWeight, GnTensor* gradBias,
                                                       uint64_t* workspaceSize, GnExecutor** executor) {
  using namespace gn_host;
  constexpr const char* kFirst = "LinearGeluBackwardGetWorkspaceSize";
  return Prepare(kFirst, "LinearGeluBackward", workspaceSize, executor, [&](Executor* plan) -> Outcome {
    LinearBackwardCall call{{"gradOut", gradOut},
                            {"preactivation", preactivation},
                            {"input", input},
                            {"weight", weight},
                            {"gradInput", gradInput},
                            {"gradWeight", gradWeight},
                            {"gradBias", gradBias},
                            true,
                            approximate,
                            {}};
    if (Outcome wrong = Check(outputMask, outputMaskSize, &call); wrong.Failed()) return wrong;
    return Plan(call, plan);
  });
}

extern "C" GnStatus LinearGeluBackward(void* workspace, uint64_t workspaceSize, GnExecutor* executor,
                                       GnStream* stream) {
  return gn_host::Execute("LinearGeluBackward", workspace, workspaceSize, executor, stream);
}
