// What the operators refuse, by the argument's name: the same on the CPU, on an NPU and while a graph is traced.
//
// Sizes are symbolic integers: in a traced graph a comparison of two becomes a condition that the graph keeps.
#pragma once
#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <array>
#include <optional>

namespace gn_torch {

using MaybeTensor = std::optional<at::Tensor>;

// Throw c10::ValueError, ValueError in Python, unless the operator can take these. device: where all of them must be.
void CheckForward(const at::Tensor& x, const MaybeTensor& weight, const MaybeTensor& bias, int64_t num_groups,
                  double eps);
void CheckBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& mean, const at::Tensor& rstd,
                   const MaybeTensor& weight, int64_t num_groups, std::array<bool, 3> output_mask);
void CheckGelu(const at::Tensor& x);
void CheckGeluBackward(const at::Tensor& grad_y, const at::Tensor& x);
void CheckLinear(const at::Tensor& x, const at::Tensor& weight, const MaybeTensor& bias);
void CheckLinearBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& weight);
// (..., O) for x (..., K) and weight (O, K).
c10::SymDimVector LinearShape(const at::Tensor& x, const at::Tensor& weight);
// Throws unless x is where this implementation runs: a dispatcher key says less than that when tensors are mixed.
void CheckDevice(const at::Tensor& x, c10::DeviceType type, const char* what);

}  // namespace gn_torch
