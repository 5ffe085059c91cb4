// Linear and its three gradients.
#include "gn_linear.h"

#include "register.h"

namespace gn_torch {
namespace {

// (..., O) for x (..., K) and weight (O, K).
c10::SymDimVector LinearShape(const at::Tensor& x, const at::Tensor& weight) {
  c10::SymDimVector shape(x.sym_sizes().begin(), x.sym_sizes().end());
  shape.back() = weight.sym_size(0);
  return shape;
}

void CheckLinear(const at::Tensor& x, const at::Tensor& weight, const MaybeTensor& bias) {
  CheckType(x);
  TORCH_CHECK_VALUE(x.dim() >= 1 && x.dim() <= kMostAxes, "x has ", x.dim(), " axes; it needs 1 to ", kMostAxes,
                    ": (..., K)");
  TORCH_CHECK_VALUE(weight.dim() == 2, "weight has ", weight.dim(), " axes; it needs 2: (O, K)");
  const c10::SymInt shape[] = {weight.sym_size(0), x.sym_size(-1)};
  CheckLike("weight", weight, x, x.scalar_type(), shape, "a column for each element of x's last axis");
  if (bias.has_value())
    CheckLike("bias", *bias, x, x.scalar_type(), {weight.sym_size(0)}, "one number for each row of weight");
}

void CheckLinearBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& weight) {
  CheckLinear(x, weight, std::nullopt);
  CheckLike("grad_y", grad_y, x, x.scalar_type(), LinearShape(x, weight), "the shape of y");
}

at::Tensor LinearOutput(const at::Tensor& x, const at::Tensor& weight) {
  return at::empty_symint(LinearShape(x, weight), x.options());
}

// The gradients of x, weight and bias, contiguous; an undefined tensor, None in Python, for one that is not wanted.
Three LinearBackwardOutputs(const at::Tensor& x, const at::Tensor& weight, std::array<bool, 3> mask) {
  const auto made = [&](bool wanted, c10::SymIntArrayRef shape) {
    return wanted ? at::empty_symint(shape, x.options()) : at::Tensor();
  };
  return {made(mask[0], x.sym_sizes()), made(mask[1], weight.sym_sizes()), made(mask[2], {weight.sym_size(0)})};
}

template <class Place>
at::Tensor Linear(const at::Tensor& x, const at::Tensor& weight, const MaybeTensor& bias) {
  CheckLinear(x, weight, bias);
  CheckDevice(x, Place::kType, Place::kName);
  const typename Place::Guard guard(x.device());
  at::Tensor made = LinearOutput(x, weight);
  const auto plan = [&](const Host& host) {
    static const Calls<decltype(&::LinearGetWorkspaceSize)> calls(host, "Linear");
    return calls.Plan(x, Described(host, x), Described(host, weight), Described(host, bias), Described(host, made));
  };
  Place::Launch("gn_tutorial_cpp::linear", plan, x, weight, bias, made);
  return made;
}

template <class Place>
Three LinearBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& weight,
                     std::array<bool, 3> output_mask) {
  CheckLinearBackward(grad_y, x, weight);
  CheckDevice(x, Place::kType, Place::kName);
  const typename Place::Guard guard(x.device());
  Three made = LinearBackwardOutputs(x, weight, output_mask);
  if (!output_mask[0] && !output_mask[1] && !output_mask[2]) return made;
  const auto plan = [&](const Host& host) {
    static const Calls<decltype(&::LinearBackwardGetWorkspaceSize)> calls(host, "LinearBackward");
    const Described dx(host, std::get<0>(made)), dweight(host, std::get<1>(made)), dbias(host, std::get<2>(made));
    const uint8_t wanted[] = {output_mask[0], output_mask[1], output_mask[2]};
    return calls.Plan(x, Described(host, grad_y), Described(host, x), Described(host, weight), wanted, 3, dx, dweight,
                      dbias);
  };
  Place::Launch("gn_tutorial_cpp::linear_backward", plan, grad_y, x, weight, made);
  return made;
}

class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  using Context = torch::autograd::AutogradContext;
  using Variables = torch::autograd::variable_list;

  static at::Tensor forward(Context* ctx, const at::Tensor& x, const at::Tensor& weight, const MaybeTensor& bias) {
    static const auto op =
        Operator<at::Tensor(const at::Tensor&, const at::Tensor&, const MaybeTensor&)>("gn_tutorial_cpp::linear");
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({x, weight});
    ctx->saved_data["has_bias"] = bias.has_value();
    return op.call(x, weight, bias);
  }

  static Variables backward(Context* ctx, const Variables& grads) {
    static const auto op =
        Operator<Three(const at::Tensor&, const at::Tensor&, const at::Tensor&, std::array<bool, 3>)>(
            "gn_tutorial_cpp::linear_backward");
    const Variables saved = ctx->get_saved_variables();
    const std::array<bool, 3> mask = {ctx->needs_input_grad(0), ctx->needs_input_grad(1),
                                      ctx->saved_data["has_bias"].toBool() && ctx->needs_input_grad(2)};
    auto [dx, dweight, dbias] = op.call(grads[0], saved[0], saved[1], mask);
    return {dx, dweight, dbias};
  }
};

at::Tensor AutogradLinear(const at::Tensor& x, const at::Tensor& weight, const MaybeTensor& bias) {
  return LinearFunction::apply(x, weight, bias);
}

struct LinearOperators {
  static void Define(torch::Library& m) {
    m.def("linear(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor", {at::Tag::pt2_compliant_tag});
    m.def(
        "linear_backward(Tensor grad_y, Tensor x, Tensor weight, bool[3] output_mask) -> (Tensor grad_x, Tensor "
        "grad_weight, Tensor grad_bias)",
        {at::Tag::pt2_compliant_tag});
  }
  static void Differentiate(torch::Library& m) {
    m.impl("linear", &AutogradLinear);
    // There is no second derivative; asking for one must be an error, never a zero.
    m.impl("linear_backward", torch::autograd::autogradNotImplementedFallback());
  }
  template <class Place>
  static void Implement(torch::Library& m) {
    m.impl("linear", &Linear<Place>);
    m.impl("linear_backward", &LinearBackward<Place>);
  }
};

GN_REGISTER(LinearOperators)

}  // namespace
}  // namespace gn_torch
