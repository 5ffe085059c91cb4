// GroupNorm and SiLU in one kernel, and the gradients in one, which makes GroupNorm's result again. Of channels-last tensors the gradients are
// made of existing parts, as the Python operator's are (docs/pytorch.md).
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

using SiluBackwardSignature = Three(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                    const MaybeTensor&, const MaybeTensor&, int64_t, std::array<bool, 3>);

template <class Place>
Three GroupNormSiluBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& mean,
                            const at::Tensor& rstd, const MaybeTensor& weight, const MaybeTensor& bias,
                            int64_t num_groups, std::array<bool, 3> output_mask) {
  CheckBackward(grad_y, x, mean, rstd, weight, bias, num_groups, output_mask);
  CheckDevice(x, Place::kType, Place::kName);
  const typename Place::Guard guard(x.device());
  Three made = BackwardOutputs(x, output_mask);
  if (!output_mask[0] && !output_mask[1] && !output_mask[2]) return made;
  const auto plan = [&](const Host& host) {
    static const Calls<decltype(&::GroupNormSiluBackwardGetWorkspaceSize)> calls(host, "GroupNormSiluBackward");
    const Sizes sizes(x);
    const Described dx(host, std::get<0>(made)), dgamma(host, std::get<1>(made)), dbeta(host, std::get<2>(made));
    const uint8_t wanted[] = {output_mask[0], output_mask[1], output_mask[2]};
    return calls.Plan(x, Described(host, grad_y), Described(host, x), Described(host, mean), Described(host, rstd),
                      Described(host, weight), Described(host, bias), sizes.n, sizes.c, sizes.hxw, num_groups, wanted,
                      3, dx, dgamma, dbeta);
  };
  Place::Launch("gn_tutorial_cpp::group_norm_silu_backward", plan, grad_y, x, mean, rstd, weight, bias, made);
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

bool HasChannelsLast(const at::Tensor& x) { return x.dim() > 2 && !x.is_contiguous() && x.sym_stride(1) == 1; }

// As group_norm_silu_backward, of several launches.
Three GradientsOfParts(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& mean, const at::Tensor& rstd,
                       const at::Tensor& weight, const at::Tensor& bias, int64_t num_groups, std::array<bool, 3> mask) {
  static const auto op = Operator<BackwardSignature>("gn_tutorial_cpp::group_norm_backward");
  const at::Tensor wide_x = Wide(x), wide_weight = Wide(weight);
  const at::Tensor grad = GradientOfNorm(Wide(grad_y), wide_x, mean, rstd, wide_weight, Wide(bias));
  const auto [dx, dweight, dbias] =
      op.call(grad, wide_x, mean, rstd, weight.defined() ? MaybeTensor(wide_weight) : std::nullopt, num_groups, mask);
  const auto narrow = [&](const at::Tensor& one) { return one.defined() ? one.to(x.scalar_type()) : one; };
  return {narrow(dx), narrow(dweight), narrow(dbias)};
}

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
    static const auto op = Operator<SiluBackwardSignature>("gn_tutorial_cpp::group_norm_silu_backward");
    const variable_list saved = ctx->get_saved_variables();
    const auto maybe = [](const at::Tensor& one) { return one.defined() ? MaybeTensor(one) : std::nullopt; };
    const std::array<bool, 3> mask = WantedGradients(ctx, saved[1].defined(), saved[2].defined());
    const int64_t groups = ctx->saved_data["num_groups"].toInt();
    const auto [dx, dweight, dbias] =
        HasChannelsLast(saved[0])
            ? GradientsOfParts(grads[0], saved[0], saved[3], saved[4], saved[1], saved[2], groups, mask)
            : op.call(grads[0], saved[0], saved[3], saved[4], maybe(saved[1]), maybe(saved[2]), groups, mask);
    return {dx, dweight, dbias, at::Tensor(), at::Tensor()};
  }
};

struct GroupNormSiluOperators {
  static void Define(torch::Library& m) {
    m.def(
        "group_norm_silu(Tensor x, Tensor? weight, Tensor? bias, int num_groups, float eps=1e-5) -> (Tensor y, Tensor "
        "mean, Tensor rstd)",
        {at::Tag::pt2_compliant_tag});
    m.def(
        "group_norm_silu_backward(Tensor grad_y, Tensor x, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, int "
        "num_groups, bool[3] output_mask) -> (Tensor grad_x, Tensor grad_weight, Tensor grad_bias)",
        {at::Tag::pt2_compliant_tag});
  }
  static void Differentiate(torch::Library& m) {
    m.impl("group_norm_silu", &WithGradients<GroupNormSiluFunction>);
    // There is no second derivative; asking for one must be an error, never a zero.
    m.impl("group_norm_silu_backward", torch::autograd::autogradNotImplementedFallback());
  }
  template <class Place>
  static void Implement(torch::Library& m) {
    m.impl("group_norm_silu", &GroupNormSilu<Place>);
    m.impl("group_norm_silu_backward", &GroupNormSiluBackward<Place>);
  }
};

GN_REGISTER(GroupNormSiluOperators)

}  // namespace
}  // namespace gn_torch
