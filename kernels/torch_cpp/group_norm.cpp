// The operators' names and arguments, and their gradient. Devices add themselves: cpu.cpp, meta.cpp, npu.cpp.
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "dispatch.h"
#include "outputs.h"

namespace gn_torch {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using ForwardSignature = Three(const at::Tensor&, const MaybeTensor&, const MaybeTensor&, int64_t, double);
using BackwardSignature = Three(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                const MaybeTensor&, int64_t, std::array<bool, 3>);

class GroupNormFunction : public torch::autograd::Function<GroupNormFunction> {
 public:
  static variable_list forward(AutogradContext* ctx, const at::Tensor& x, const MaybeTensor& weight,
                               const MaybeTensor& bias, int64_t num_groups, double eps) {
    static const auto op = Operator<ForwardSignature>("gn_tutorial_cpp::group_norm");
    at::AutoDispatchBelowADInplaceOrView below;
    auto [y, mean, rstd] = op.call(x, weight, bias, num_groups, eps);
    ctx->mark_non_differentiable({mean, rstd});
    ctx->save_for_backward({x, weight.value_or(at::Tensor()), mean, rstd});
    ctx->saved_data["num_groups"] = num_groups;
    ctx->saved_data["has_bias"] = bias.has_value();
    return {y, mean, rstd};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    static const auto op = Operator<BackwardSignature>("gn_tutorial_cpp::group_norm_backward");
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &rstd = saved[3];
    // The graph counts tensors only: where weight is None, bias is the second.
    const bool has_weight = weight.defined(), has_bias = ctx->saved_data["has_bias"].toBool();
    const std::array<bool, 3> mask = {ctx->needs_input_grad(0), has_weight && ctx->needs_input_grad(1),
                                      has_bias && ctx->needs_input_grad(has_weight ? 2 : 1)};
    auto [dx, dweight, dbias] = op.call(grads[0], x, mean, rstd, has_weight ? MaybeTensor(weight) : std::nullopt,
                                        ctx->saved_data["num_groups"].toInt(), mask);
    return {dx, dweight, dbias, at::Tensor(), at::Tensor()};
  }
};

Three AutogradForward(const at::Tensor& x, const MaybeTensor& weight, const MaybeTensor& bias, int64_t num_groups,
                      double eps) {
  const variable_list made = GroupNormFunction::apply(x, weight, bias, num_groups, eps);
  return {made[0], made[1], made[2]};
}

}  // namespace
}  // namespace gn_torch

TORCH_LIBRARY(gn_tutorial_cpp, m) {
  m.def(
      "group_norm(Tensor x, Tensor? weight, Tensor? bias, int num_groups, float eps=1e-5) -> (Tensor y, Tensor mean, "
      "Tensor rstd)",
      {at::Tag::pt2_compliant_tag});
  m.def(
      "group_norm_backward(Tensor grad_y, Tensor x, Tensor mean, Tensor rstd, Tensor? weight, int num_groups, bool[3] "
      "output_mask) "
      "-> (Tensor grad_x, Tensor grad_weight, Tensor grad_bias)",
      {at::Tag::pt2_compliant_tag});
}

TORCH_LIBRARY_IMPL(gn_tutorial_cpp, Autograd, m) {
  m.impl("group_norm", &gn_torch::AutogradForward);
  // There is no second derivative; asking for one must be an error, never a zero.
  m.impl("group_norm_backward", torch::autograd::autogradNotImplementedFallback());
}
