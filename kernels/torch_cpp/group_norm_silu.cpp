// GroupNorm and SiLU in one kernel. Its gradient is made of existing parts, as the Python operator's is (docs/pytorch.md).
#include <ATen/TensorOperators.h>
#include <ATen/ops/sigmoid.h>

#include "gn_group_norm.h"
#include "group_norm.h"
#include "register.h"

namespace gn_torch {
namespace {

template <class Place>
Three GroupNormSilu(const at::Tensor& x, const MaybeTensor& weight, const MaybeTensor& bias, int64_t num_groups,
                    double eps) {
  CheckForward(x, weight, bias, num_groups, eps);
  CheckDevice(x, Place::kType, Place::kName);
  const typename Place::Guard guard(x.device());
  Three made = ForwardOutputs(x, num_groups);
  const auto plan = [&](const Host& host) {
    static const Calls<decltype(&::GroupNormSiluGetWorkspaceSize)> calls(host, "GroupNormSilu");
    const Described y(host, std::get<0>(made)), mean(host, std::get<1>(made)), rstd(host, std::get<2>(made));
    return calls.Plan(x, Described(host, x), Described(host, weight), Described(host, bias), num_groups, eps, y, mean,
                      rstd);
  };
  Place::Launch("gn_tutorial_cpp::group_norm_silu", plan, x, weight, bias, made);
  return made;
}

// `numbers`, n * C of them, as (n, C, 1, ...), to meet x.
at::Tensor AlongChannels(const at::Tensor& numbers, const c10::SymInt& n, const at::Tensor& x) {
  c10::SymDimVector shape(static_cast<size_t>(x.dim()), 1);
  shape[0] = n;
  shape[1] = x.sym_size(1);
  return numbers.reshape_symint(shape);
}

// dL/dg = dL/dy s (1 + g (1 - s)), with g what GroupNorm returns, made again from x, and s = sigmoid(g). All float32.
at::Tensor GradientOfNorm(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& mean, const at::Tensor& rstd,
                          const at::Tensor& weight, const at::Tensor& bias) {
  const auto of_groups = [&](const at::Tensor& one) {
    return AlongChannels(one.repeat_interleave_symint(x.sym_size(1) / one.sym_size(1), 1), x.sym_size(0), x);
  };
  at::Tensor g = (x - of_groups(mean)) * of_groups(rstd);
  if (weight.defined()) g = g * AlongChannels(weight, 1, x);
  if (bias.defined()) g = g + AlongChannels(bias, 1, x);
  const at::Tensor s = at::sigmoid(g);
  return grad_y * s * (1 + g * (1 - s));
}

at::Tensor Wide(const at::Tensor& one) { return one.defined() ? one.to(at::kFloat) : one; }

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class GroupNormSiluFunction : public torch::autograd::Function<GroupNormSiluFunction> {
 public:
  static variable_list forward(AutogradContext* ctx, const at::Tensor& x, const MaybeTensor& weight,
                               const MaybeTensor& bias, int64_t num_groups, double eps) {
    static const auto op = Operator<ForwardSignature>("gn_tutorial_cpp::group_norm_silu");
    at::AutoDispatchBelowADInplaceOrView below;
    auto [y, mean, rstd] = op.call(x, weight, bias, num_groups, eps);
    ctx->mark_non_differentiable({mean, rstd});
    ctx->save_for_backward({x, weight.value_or(at::Tensor()), bias.value_or(at::Tensor()), mean, rstd});
    ctx->saved_data["num_groups"] = num_groups;
    return {y, mean, rstd};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    static const auto op = Operator<BackwardSignature>("gn_tutorial_cpp::group_norm_backward");
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor x = Wide(saved[0]), weight = Wide(saved[1]), bias = Wide(saved[2]);
    const at::Tensor &mean = saved[3], &rstd = saved[4];
    const std::array<bool, 3> mask = WantedGradients(ctx, weight.defined(), bias.defined());
    const at::Tensor grad = GradientOfNorm(Wide(grads[0]), x, mean, rstd, weight, bias);
    auto [dx, dweight, dbias] = op.call(grad, x, mean, rstd, weight.defined() ? MaybeTensor(weight) : std::nullopt,
                                        ctx->saved_data["num_groups"].toInt(), mask);
    const auto narrow = [&](const at::Tensor& one) { return one.defined() ? one.to(saved[0].scalar_type()) : one; };
    return {narrow(dx), narrow(dweight), narrow(dbias), at::Tensor(), at::Tensor()};
  }
};

struct GroupNormSiluOperators {
  static void Define(torch::Library& m) {
    m.def(
        "group_norm_silu(Tensor x, Tensor? weight, Tensor? bias, int num_groups, float eps=1e-5) -> (Tensor y, Tensor "
        "mean, Tensor rstd)",
        {at::Tag::pt2_compliant_tag});
  }
  static void Differentiate(torch::Library& m) { m.impl("group_norm_silu", &WithGradients<GroupNormSiluFunction>); }
  template <class Place>
  static void Implement(torch::Library& m) {
    m.impl("group_norm_silu", &GroupNormSilu<Place>);
  }
};

GN_REGISTER(GroupNormSiluOperators)

}  // namespace
}  // namespace gn_torch
