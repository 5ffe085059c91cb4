// GroupNorm and its three gradients: what is refused, memory for the results, the launch, the gradient.
#include "gn_group_norm.h"

#include "group_norm.h"
#include "register.h"

namespace gn_torch {
namespace {

constexpr int64_t kLeastAxes = 2;

void CheckData(const at::Tensor& x, int64_t num_groups) {
  CheckType(x);
  TORCH_CHECK_VALUE(x.dim() >= kLeastAxes && x.dim() <= kMostAxes, "x has ", x.dim(), " axes; it needs ", kLeastAxes,
                    " to ", kMostAxes, ": (N, C, ...)");
  const c10::SymInt channels = x.sym_size(1);
  TORCH_CHECK_VALUE(num_groups > 0 && channels > 0 && channels % num_groups == 0, "x has ", channels,
                    " channels, which cannot be divided into num_groups = ", num_groups);
  if (x.sym_size(0) == 0) return;
  for (int64_t axis = 2; axis < x.dim(); ++axis)
    TORCH_CHECK_VALUE(x.sym_size(axis) != 0, "x has shape ", x.sym_sizes(), ": a group without elements has no mean");
}

void CheckChannels(const char* name, const MaybeTensor& one, const at::Tensor& x) {
  if (one.has_value()) CheckLike(name, *one, x, x.scalar_type(), {x.sym_size(1)}, "one number for each channel");
}

}  // namespace

void CheckBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& mean, const at::Tensor& rstd,
                   const MaybeTensor& weight, const MaybeTensor& bias, int64_t num_groups,
                   std::array<bool, 3> output_mask) {
  CheckData(x, num_groups);
  CheckLike("grad_y", grad_y, x, x.scalar_type(), x.sym_sizes(), "the shape of x");
  const c10::SymInt statistics[] = {x.sym_size(0), num_groups};
  CheckLike("mean", mean, x, at::kFloat, statistics, "(N, num_groups)");
  CheckLike("rstd", rstd, x, at::kFloat, statistics, "(N, num_groups)");
  CheckChannels("weight", weight, x);
  CheckChannels("bias", bias, x);
  TORCH_CHECK_VALUE(weight.has_value() || !output_mask[1],
                    "output_mask[1] asks for the gradient of weight, and weight is None");
}

void CheckForward(const at::Tensor& x, const MaybeTensor& weight, const MaybeTensor& bias, int64_t num_groups,
                  double eps) {
  CheckData(x, num_groups);
  CheckChannels("weight", weight, x);
  CheckChannels("bias", bias, x);
  CheckEps(eps);
}

Three ForwardOutputs(const at::Tensor& x, int64_t num_groups) {
  const c10::SymInt shape[] = {x.sym_size(0), num_groups};
  const auto statistics = x.options().dtype(at::kFloat);
  return {EmptyLike(x), at::empty_symint(shape, statistics), at::empty_symint(shape, statistics)};
}

Three BackwardOutputs(const at::Tensor& x, std::array<bool, 3> mask) {
  const c10::SymInt shape[] = {x.sym_size(1)};
  const auto channels = [&](bool wanted) { return wanted ? at::empty_symint(shape, x.options()) : at::Tensor(); };
  return {mask[0] ? EmptyLike(x) : at::Tensor(), channels(mask[1]), channels(mask[2])};
}

namespace {

template <class Place>
Three GroupNorm(const at::Tensor& x, const MaybeTensor& weight, const MaybeTensor& bias, int64_t num_groups,
                double eps) {
  CheckForward(x, weight, bias, num_groups, eps);
  CheckDevice(x, Place::kType, Place::kName);
  const typename Place::Guard guard(x.device());
  Three made = ForwardOutputs(x, num_groups);
  const auto plan = [&](const Host& host) {
    static const Calls<decltype(&::GroupNormGetWorkspaceSize)> calls(host, "GroupNorm");
    const Sizes sizes(x);
    const Described y(host, std::get<0>(made)), mean(host, std::get<1>(made)), rstd(host, std::get<2>(made));
    return calls.Plan(x, Described(host, x), Described(host, weight), Described(host, bias), sizes.n, sizes.c,
                      sizes.hxw, num_groups, eps, y, mean, rstd);
  };
  Place::Launch("gn_tutorial_cpp::group_norm", plan, x, weight, bias, made);
  return made;
}

template <class Place>
Three GroupNormBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& mean, const at::Tensor& rstd,
                        const MaybeTensor& weight, int64_t num_groups, std::array<bool, 3> output_mask) {
  CheckBackward(grad_y, x, mean, rstd, weight, std::nullopt, num_groups, output_mask);
  CheckDevice(x, Place::kType, Place::kName);
  const typename Place::Guard guard(x.device());
  Three made = BackwardOutputs(x, output_mask);
  if (!output_mask[0] && !output_mask[1] && !output_mask[2]) return made;
  const auto plan = [&](const Host& host) {
    static const Calls<decltype(&::GroupNormBackwardGetWorkspaceSize)> calls(host, "GroupNormBackward");
    const Sizes sizes(x);
    const Described dx(host, std::get<0>(made)), dgamma(host, std::get<1>(made)), dbeta(host, std::get<2>(made));
    const uint8_t wanted[] = {output_mask[0], output_mask[1], output_mask[2]};
    return calls.Plan(x, Described(host, grad_y), Described(host, x), Described(host, mean), Described(host, rstd),
                      Described(host, weight), sizes.n, sizes.c, sizes.hxw, num_groups, wanted, 3, dx, dgamma, dbeta);
  };
  Place::Launch("gn_tutorial_cpp::group_norm_backward", plan, grad_y, x, mean, rstd, weight, made);
  return made;
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

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
    const bool has_weight = weight.defined();
    const std::array<bool, 3> mask = WantedGradients(ctx, has_weight, ctx->saved_data["has_bias"].toBool());
    auto [dx, dweight, dbias] = op.call(grads[0], x, mean, rstd, has_weight ? MaybeTensor(weight) : std::nullopt,
                                        ctx->saved_data["num_groups"].toInt(), mask);
    return {dx, dweight, dbias, at::Tensor(), at::Tensor()};
  }
};

struct GroupNormOperators {
  static void Define(torch::Library& m) {
    m.def(
        "group_norm(Tensor x, Tensor? weight, Tensor? bias, int num_groups, float eps=1e-5) -> (Tensor y, Tensor mean, "
        "Tensor rstd)",
        {at::Tag::pt2_compliant_tag});
    m.def(
        "group_norm_backward(Tensor grad_y, Tensor x, Tensor mean, Tensor rstd, Tensor? weight, int num_groups, "
        "bool[3] "
        "output_mask) -> (Tensor grad_x, Tensor grad_weight, Tensor grad_bias)",
        {at::Tag::pt2_compliant_tag});
  }
  static void Differentiate(torch::Library& m) {
    m.impl("group_norm", &WithGradients<GroupNormFunction>);
    // There is no second derivative; asking for one must be an error, never a zero.
    m.impl("group_norm_backward", torch::autograd::autogradNotImplementedFallback());
  }
  template <class Place>
  static void Implement(torch::Library& m) {
    m.impl("group_norm", &GroupNorm<Place>);
    m.impl("group_norm_backward", &GroupNormBackward<Place>);
  }
};

GN_REGISTER(GroupNormOperators)

}  // namespace
}  // namespace gn_torch
