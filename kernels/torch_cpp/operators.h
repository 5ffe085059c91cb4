// Each operator once, for every place where tensors are: the checks, memory for the results, and a launch where there is one.
//
// A place is a class with kType and kName, its device; Guard, a block in which the device that it is made with is the current one; and
//   Launch(name, plan, tensors...)
// which makes both calls of the host API: plan(host) is the first one, and `tensors` are all that the second one reads and writes.
#pragma once
#include <torch/library.h>

#include "host.h"

namespace gn_torch {

// Of a place that has one device.
struct NoGuard {
  explicit NoGuard(const c10::Device&) {}
};

template <class Place>
struct Operators {
  using Guard = typename Place::Guard;

  static Three GroupNorm(const at::Tensor& x, const MaybeTensor& weight, const MaybeTensor& bias, int64_t num_groups,
                         double eps) {
    CheckForward(x, weight, bias, num_groups, eps);
    CheckDevice(x, Place::kType, Place::kName);
    const Guard guard(x.device());
    Three made = ForwardOutputs(x, num_groups);
    const auto plan = [&](const Host& host) { return PlanForward(host, x, weight, bias, num_groups, eps, made); };
    Place::Launch("gn_tutorial_cpp::group_norm", plan, x, weight, bias, made);
    return made;
  }

  static Three GroupNormBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& mean,
                                 const at::Tensor& rstd, const MaybeTensor& weight, int64_t num_groups,
                                 std::array<bool, 3> output_mask) {
    CheckBackward(grad_y, x, mean, rstd, weight, num_groups, output_mask);
    CheckDevice(x, Place::kType, Place::kName);
    const Guard guard(x.device());
    Three made = BackwardOutputs(x, output_mask);
    if (!output_mask[0] && !output_mask[1] && !output_mask[2]) return made;
    const auto plan = [&](const Host& host) {
      return PlanBackward(host, grad_y, x, mean, rstd, weight, num_groups, output_mask, made);
    };
    Place::Launch("gn_tutorial_cpp::group_norm_backward", plan, grad_y, x, mean, rstd, weight, made);
    return made;
  }

  static at::Tensor Gelu(const at::Tensor& x) {
    CheckGelu(x);
    CheckDevice(x, Place::kType, Place::kName);
    const Guard guard(x.device());
    at::Tensor made = EmptyLike(x);
    Place::Launch("gn_tutorial_cpp::gelu", [&](const Host& host) { return PlanGelu(host, x, made); }, x, made);
    return made;
  }

  static at::Tensor GeluBackward(const at::Tensor& grad_y, const at::Tensor& x) {
    CheckGeluBackward(grad_y, x);
    CheckDevice(x, Place::kType, Place::kName);
    const Guard guard(x.device());
    at::Tensor made = EmptyLike(x);
    const auto plan = [&](const Host& host) { return PlanGeluBackward(host, grad_y, x, made); };
    Place::Launch("gn_tutorial_cpp::gelu_backward", plan, grad_y, x, made);
    return made;
  }

  static at::Tensor Linear(const at::Tensor& x, const at::Tensor& weight, const MaybeTensor& bias) {
    CheckLinear(x, weight, bias);
    CheckDevice(x, Place::kType, Place::kName);
    const Guard guard(x.device());
    at::Tensor made = LinearOutput(x, weight);
    const auto plan = [&](const Host& host) { return PlanLinear(host, x, weight, bias, made); };
    Place::Launch("gn_tutorial_cpp::linear", plan, x, weight, bias, made);
    return made;
  }

  static Three LinearBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& weight,
                              std::array<bool, 3> output_mask) {
    CheckLinearBackward(grad_y, x, weight);
    CheckDevice(x, Place::kType, Place::kName);
    const Guard guard(x.device());
    Three made = LinearBackwardOutputs(x, weight, output_mask);
    if (!output_mask[0] && !output_mask[1] && !output_mask[2]) return made;
    const auto plan = [&](const Host& host) { return PlanLinearBackward(host, grad_y, x, weight, output_mask, made); };
    Place::Launch("gn_tutorial_cpp::linear_backward", plan, grad_y, x, weight, made);
    return made;
  }

  static void Register(torch::Library& m) {
    m.impl("group_norm", &GroupNorm);
    m.impl("group_norm_backward", &GroupNormBackward);
    m.impl("gelu", &Gelu);
    m.impl("gelu_backward", &GeluBackward);
    m.impl("linear", &Linear);
    m.impl("linear_backward", &LinearBackward);
  }
};

}  // namespace gn_torch
