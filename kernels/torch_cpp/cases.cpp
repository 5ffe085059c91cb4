// GELU and Linear: the operators' names and arguments, and their gradients. As group_norm.cpp, for smaller operators.
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "dispatch.h"
#include "outputs.h"

namespace gn_torch {
namespace {

class GeluFunction : public torch::autograd::Function<GeluFunction> {
 public:
  using Context = torch::autograd::AutogradContext;
  using Variables = torch::autograd::variable_list;

  static at::Tensor forward(Context* ctx, const at::Tensor& x) {
    static const auto op = Operator<at::Tensor(const at::Tensor&)>("gn_tutorial_cpp::gelu");
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({x});
    return op.call(x);
  }

  static Variables backward(Context* ctx, const Variables& grads) {
    static const auto op = Operator<at::Tensor(const at::Tensor&, const at::Tensor&)>("gn_tutorial_cpp::gelu_backward");
    return {op.call(grads[0], ctx->get_saved_variables()[0])};
  }
};

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

at::Tensor AutogradGelu(const at::Tensor& x) { return GeluFunction::apply(x); }

at::Tensor AutogradLinear(const at::Tensor& x, const at::Tensor& weight, const MaybeTensor& bias) {
  return LinearFunction::apply(x, weight, bias);
}

}  // namespace
}  // namespace gn_torch

TORCH_LIBRARY_FRAGMENT(gn_tutorial_cpp, m) {
  m.def("gelu(Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("gelu_backward(Tensor grad_y, Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("linear(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def(
      "linear_backward(Tensor grad_y, Tensor x, Tensor weight, bool[3] output_mask) -> (Tensor grad_x, Tensor "
      "grad_weight, Tensor grad_bias)",
      {at::Tag::pt2_compliant_tag});
}

TORCH_LIBRARY_IMPL(gn_tutorial_cpp, Autograd, m) {
  m.impl("gelu", &gn_torch::AutogradGelu);
  m.impl("linear", &gn_torch::AutogradLinear);
  // There is no second derivative; asking for one must be an error, never a zero.
  m.impl("gelu_backward", torch::autograd::autogradNotImplementedFallback());
  m.impl("linear_backward", torch::autograd::autogradNotImplementedFallback());
}
