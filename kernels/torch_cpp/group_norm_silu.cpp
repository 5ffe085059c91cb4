// GroupNorm and SiLU in one kernel, and the gradients in one, which makes GroupNorm's result again.
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
    auto [dx, dweight, dbias] = op.call(grads[0], saved[0], saved[3], saved[4], maybe(saved[1]), maybe(saved[2]),
                                        ctx->saved_data["num_groups"].toInt(), mask);
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
