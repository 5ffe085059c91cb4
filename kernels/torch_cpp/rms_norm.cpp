// RMSNorm over the last axes, and its two gradients.
#include <ATen/ops/ones.h>

#include "gn_rms_norm.h"
#include "register.h"

namespace gn_torch {
namespace {

using Two = std::tuple<at::Tensor, at::Tensor>;
constexpr double kDefaultEps = 0x1p-23;  // float32's: what PyTorch takes for None, for halves too

void CheckRows(const at::Tensor& x, const MaybeTensor& weight, c10::SymIntArrayRef normalized_shape) {
  CheckType(x);
  TORCH_CHECK_VALUE(x.dim() <= kMostAxes, "x has ", x.dim(), " axes; it may have ", kMostAxes);
  const size_t last = normalized_shape.size(), axes = static_cast<size_t>(x.dim());
  TORCH_CHECK_VALUE(0 < last && last <= axes && x.sym_sizes().slice(axes - last).equals(normalized_shape),
                    "normalized_shape is ", normalized_shape, ", which is not the end of x's shape ", x.sym_sizes());
  for (const c10::SymInt& length : normalized_shape)
    TORCH_CHECK_VALUE(length != 0, "normalized_shape is ", normalized_shape, ": a row without elements has no mean");
  if (weight.has_value()) CheckLike("weight", *weight, x, x.scalar_type(), normalized_shape, "normalized_shape");
}

// x's shape, with ones for normalized_shape.
c10::SymDimVector RstdShape(const at::Tensor& x, c10::SymIntArrayRef normalized_shape) {
  c10::SymDimVector shape(x.sym_sizes().begin(), x.sym_sizes().end());
  for (size_t axis = shape.size() - normalized_shape.size(); axis < shape.size(); ++axis) shape[axis] = 1;
  return shape;
}

// The host API, as aclnn, asks for a weight.
at::Tensor Factors(const at::Tensor& x, const MaybeTensor& weight, c10::SymIntArrayRef normalized_shape) {
  return weight.has_value() ? *weight : at::ones_symint(normalized_shape, x.options());
}

template <class Place>
Two RmsNorm(const at::Tensor& x, const MaybeTensor& weight, c10::SymIntArrayRef normalized_shape,
            std::optional<double> eps) {
  CheckRows(x, weight, normalized_shape);
  if (eps.has_value()) CheckEps(*eps);
  CheckDevice(x, Place::kType, Place::kName);
  const typename Place::Guard guard(x.device());
  const at::Tensor factors = Factors(x, weight, normalized_shape), y = EmptyLike(x);
  const at::Tensor rstd = at::empty_symint(RstdShape(x, normalized_shape), x.options().dtype(at::kFloat));
  const auto plan = [&](const Host& host) {
    static const Calls<decltype(&::RmsNormGetWorkspaceSize)> calls(host, "RmsNorm");
    return calls.Plan(x, Described(host, x), Described(host, factors), eps.value_or(kDefaultEps), Described(host, y),
                      Described(host, rstd));
  };
  Place::Launch("gn_tutorial_cpp::rms_norm", plan, x, factors, y, rstd);
  return {y, rstd};
}

template <class Place>
Two RmsNormBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& rstd, const MaybeTensor& weight,
                    c10::SymIntArrayRef normalized_shape) {
  CheckRows(x, weight, normalized_shape);
  CheckLike("grad_y", grad_y, x, x.scalar_type(), x.sym_sizes(), "the shape of x");
  CheckLike("rstd", rstd, x, at::kFloat, RstdShape(x, normalized_shape), "x's, with ones for normalized_shape");
  CheckDevice(x, Place::kType, Place::kName);
  const typename Place::Guard guard(x.device());
  const at::Tensor factors = Factors(x, weight, normalized_shape), dx = EmptyLike(x);
  const at::Tensor dweight = at::empty_symint(normalized_shape, x.options().dtype(at::kFloat));
  const auto plan = [&](const Host& host) {
    static const Calls<decltype(&::RmsNormGradGetWorkspaceSize)> calls(host, "RmsNormGrad");
    return calls.Plan(x, Described(host, grad_y), Described(host, x), Described(host, rstd), Described(host, factors),
                      Described(host, dx), Described(host, dweight));
  };
  Place::Launch("gn_tutorial_cpp::rms_norm_backward", plan, grad_y, x, rstd, factors, dx, dweight);
  return {dx, dweight};
}

class RmsNormFunction : public torch::autograd::Function<RmsNormFunction> {
 public:
  using Context = torch::autograd::AutogradContext;
  using Variables = torch::autograd::variable_list;

  static Variables forward(Context* ctx, const at::Tensor& x, const MaybeTensor& weight,
                           c10::SymIntArrayRef normalized_shape, std::optional<double> eps) {
    static const auto op =
        Operator<Two(const at::Tensor&, const MaybeTensor&, c10::SymIntArrayRef, std::optional<double>)>(
            "gn_tutorial_cpp::rms_norm");
    at::AutoDispatchBelowADInplaceOrView below;
    auto [y, rstd] = op.call(x, weight, normalized_shape, eps);
    ctx->mark_non_differentiable({rstd});
    ctx->save_for_backward({x, weight.value_or(at::Tensor()), rstd});
    ctx->saved_data["axes"] = static_cast<int64_t>(normalized_shape.size());
    return {y, rstd};
  }

  static Variables backward(Context* ctx, const Variables& grads) {
    static const auto op =
        Operator<Two(const at::Tensor&, const at::Tensor&, const at::Tensor&, const MaybeTensor&, c10::SymIntArrayRef)>(
            "gn_tutorial_cpp::rms_norm_backward");
    const Variables saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &rstd = saved[2];
    const c10::SymIntArrayRef last = x.sym_sizes().slice(x.dim() - ctx->saved_data["axes"].toInt());
    auto [dx, dweight] = op.call(grads[0], x, rstd, weight.defined() ? MaybeTensor(weight) : std::nullopt, last);
    return {dx, weight.defined() ? dweight.to(weight.scalar_type()) : at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

Two AutogradRmsNorm(const at::Tensor& x, const MaybeTensor& weight, c10::SymIntArrayRef normalized_shape,
                    std::optional<double> eps) {
  const auto made = RmsNormFunction::apply(x, weight, normalized_shape, eps);
  return {made[0], made[1]};
}

struct RmsNormOperators {
  static void Define(torch::Library& m) {
    m.def("rms_norm(Tensor x, Tensor? weight, SymInt[] normalized_shape, float? eps=None) -> (Tensor y, Tensor rstd)",
          {at::Tag::pt2_compliant_tag});
    m.def(
        "rms_norm_backward(Tensor grad_y, Tensor x, Tensor rstd, Tensor? weight, SymInt[] normalized_shape) -> (Tensor "
        "grad_x, Tensor grad_weight)",
        {at::Tag::pt2_compliant_tag});
  }
  static void Differentiate(torch::Library& m) {
    m.impl("rms_norm", &AutogradRmsNorm);
    // There is no second derivative; asking for one must be an error, never a zero.
    m.impl("rms_norm_backward", torch::autograd::autogradNotImplementedFallback());
  }
  template <class Place>
  static void Implement(torch::Library& m) {
    m.impl("rms_norm", &RmsNorm<Place>);
    m.impl("rms_norm_backward", &RmsNormBackward<Place>);
  }
};

GN_REGISTER(RmsNormOperators)

}  // namespace
}  // namespace gn_torch
