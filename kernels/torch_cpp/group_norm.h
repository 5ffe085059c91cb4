// What GroupNorm's operators share, alone and with SiLU behind it.
#pragma once
#include <torch/csrc/autograd/custom_function.h>

#include "outputs.h"

namespace gn_torch {

using ForwardSignature = Three(const at::Tensor&, const MaybeTensor&, const MaybeTensor&, int64_t, double);
using BackwardSignature = Three(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                const MaybeTensor&, int64_t, std::array<bool, 3>);

// What a forward pass refuses; throws c10::ValueError, which names the argument.
void CheckForward(const at::Tensor& x, const MaybeTensor& weight, const MaybeTensor& bias, int64_t num_groups,
                  double eps);

// y, as x; mean and rstd, float32 of shape (N, num_groups).
Three ForwardOutputs(const at::Tensor& x, int64_t num_groups);

// What a backward pass refuses, likewise.
void CheckBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& mean, const at::Tensor& rstd,
                   const MaybeTensor& weight, const MaybeTensor& bias, int64_t num_groups,
                   std::array<bool, 3> output_mask);

// The gradients of x, weight and bias; an undefined tensor, None in Python, for one that is not wanted.
Three BackwardOutputs(const at::Tensor& x, std::array<bool, 3> mask);

// x is (N, C, ...); HxW is the product of what is behind.
struct Sizes {
  int64_t n, c, hxw;
  explicit Sizes(const at::Tensor& x) : n(x.size(0)), c(x.size(1)), hxw(1) {
    for (int64_t axis = 2; axis < x.dim(); ++axis) hxw *= x.size(axis);
  }
};

// Which gradients of x, weight and bias are wanted. The graph counts tensors only: where weight is None, bias is the second.
inline std::array<bool, 3> WantedGradients(torch::autograd::AutogradContext* ctx, bool has_weight, bool has_bias) {
  return {ctx->needs_input_grad(0), has_weight && ctx->needs_input_grad(1),
          has_bias && ctx->needs_input_grad(has_weight ? 2 : 1)};
}

// What stands under the key Autograd for an operator with these arguments. Function: its torch::autograd::Function.
template <class Function>
Three WithGradients(const at::Tensor& x, const MaybeTensor& weight, const MaybeTensor& bias, int64_t num_groups,
                    double eps) {
  const torch::autograd::variable_list made = Function::apply(x, weight, bias, num_groups, eps);
  return {made[0], made[1], made[2]};
}

}  // namespace gn_torch
