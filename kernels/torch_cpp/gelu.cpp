// GELU and its gradient: the smallest operator of this kind.
#include "gn_gelu.h"

#include "register.h"

namespace gn_torch {
namespace {

using Word = c10::string_view;

void CheckGelu(const at::Tensor& x, Word approximate) {
  CheckType(x);
  TORCH_CHECK_VALUE(approximate == "none" || approximate == "tanh", "approximate is '", approximate,
                    "'; it must be 'none' or 'tanh'");
  TORCH_CHECK_VALUE(x.dim() <= kMostAxes, "x has ", x.dim(), " axes; it may have ", kMostAxes);
}

void CheckGeluBackward(const at::Tensor& grad_y, const at::Tensor& x, Word approximate) {
  CheckGelu(x, approximate);
  CheckLike("grad_y", grad_y, x, x.scalar_type(), x.sym_sizes(), "the shape of x");
}

template <class Place>
at::Tensor Gelu(const at::Tensor& x, Word approximate) {
  CheckGelu(x, approximate);
  CheckDevice(x, Place::kType, Place::kName);
  const typename Place::Guard guard(x.device());
  at::Tensor made = EmptyLike(x);
  const auto plan = [&](const Host& host) {
    static const Calls<decltype(&::GeluV2GetWorkspaceSize)> calls(host, "GeluV2");
    return calls.Plan(x, Described(host, x), int64_t{approximate == "tanh"}, Described(host, made));
  };
  Place::Launch("gn_tutorial_cpp::gelu", plan, x, made);
  return made;
}

template <class Place>
at::Tensor GeluBackward(const at::Tensor& grad_y, const at::Tensor& x, Word approximate) {
  CheckGeluBackward(grad_y, x, approximate);
  CheckDevice(x, Place::kType, Place::kName);
  const typename Place::Guard guard(x.device());
  at::Tensor made = EmptyLike(x);
  const auto plan = [&](const Host& host) {
    static const Calls<decltype(&::GeluBackwardV2GetWorkspaceSize)> calls(host, "GeluBackwardV2");
    const std::string word(approximate);  // ended by a zero, as the host API needs it
    return calls.Plan(x, Described(host, grad_y), Described(host, x), word.c_str(), Described(host, made));
  };
  Place::Launch("gn_tutorial_cpp::gelu_backward", plan, grad_y, x, made);
  return made;
}

class GeluFunction : public torch::autograd::Function<GeluFunction> {
 public:
  using Context = torch::autograd::AutogradContext;
  using Variables = torch::autograd::variable_list;

  static at::Tensor forward(Context* ctx, const at::Tensor& x, Word approximate) {
    static const auto op = Operator<at::Tensor(const at::Tensor&, Word)>("gn_tutorial_cpp::gelu");
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({x});
    ctx->saved_data["approximate"] = std::string(approximate);
    return op.call(x, approximate);
  }

  static Variables backward(Context* ctx, const Variables& grads) {
    static const auto op =
        Operator<at::Tensor(const at::Tensor&, const at::Tensor&, Word)>("gn_tutorial_cpp::gelu_backward");
    const std::string approximate = ctx->saved_data["approximate"].toStringRef();
    return {op.call(grads[0], ctx->get_saved_variables()[0], approximate), at::Tensor()};
  }
};

at::Tensor AutogradGelu(const at::Tensor& x, Word approximate) { return GeluFunction::apply(x, approximate); }

struct GeluOperators {
  static void Define(torch::Library& m) {
    m.def("gelu(Tensor x, str approximate='none') -> Tensor", {at::Tag::pt2_compliant_tag});
    m.def("gelu_backward(Tensor grad_y, Tensor x, str approximate='none') -> Tensor", {at::Tag::pt2_compliant_tag});
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
