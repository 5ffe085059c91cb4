// GELU, in its tanh form, and its gradient: the smallest operator of this kind.
#include "gn_gelu.h"

#include "register.h"

namespace gn_torch {
namespace {

void CheckGelu(const at::Tensor& x) {
  CheckType(x);
  TORCH_CHECK_VALUE(x.dim() <= kMostAxes, "x has ", x.dim(), " axes; it may have ", kMostAxes);
}

void CheckGeluBackward(const at::Tensor& grad_y, const at::Tensor& x) {
  CheckGelu(x);
  CheckLike("grad_y", grad_y, x, x.scalar_type(), x.sym_sizes(), "the shape of x");
}

template <class Place>
at::Tensor Gelu(const at::Tensor& x) {
  CheckGelu(x);
  CheckDevice(x, Place::kType, Place::kName);
  const typename Place::Guard guard(x.device());
  at::Tensor made = EmptyLike(x);
  const auto plan = [&](const Host& host) {
    static const Calls<decltype(&::GeluGetWorkspaceSize)> calls(host, "Gelu");
    return calls.Plan(x, Described(host, x), Described(host, made));
  };
  Place::Launch("gn_tutorial_cpp::gelu", plan, x, made);
  return made;
}

template <class Place>
at::Tensor GeluBackward(const at::Tensor& grad_y, const at::Tensor& x) {
  CheckGeluBackward(grad_y, x);
  CheckDevice(x, Place::kType, Place::kName);
  const typename Place::Guard guard(x.device());
  at::Tensor made = EmptyLike(x);
  const auto plan = [&](const Host& host) {
    static const Calls<decltype(&::GeluBackwardGetWorkspaceSize)> calls(host, "GeluBackward");
    return calls.Plan(x, Described(host, grad_y), Described(host, x), Described(host, made));
  };
  Place::Launch("gn_tutorial_cpp::gelu_backward", plan, grad_y, x, made);
  return made;
}

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

at::Tensor AutogradGelu(const at::Tensor& x) { return GeluFunction::apply(x); }

struct GeluOperators {
  static void Define(torch::Library& m) {
    m.def("gelu(Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag});
    m.def("gelu_backward(Tensor grad_y, Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag});
  }
  static void Differentiate(torch::Library& m) {
    m.impl("gelu", &AutogradGelu);
    // There is no second derivative; asking for one must be an error, never a zero.
    m.impl("gelu_backward", torch::autograd::autogradNotImplementedFallback());
  }
  template <class Place>
  static void Implement(torch::Library& m) {
    m.impl("gelu", &Gelu<Place>);
    m.impl("gelu_backward", &GeluBackward<Place>);
  }
};

GN_REGISTER(GeluOperators)

}  // namespace
}  // namespace gn_torch
