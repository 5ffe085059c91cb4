// What operators refuse, by the argument's name: the same on the CPU, on an NPU and while a graph is traced. Here is what they share.
//
// Sizes are symbolic integers: in a traced graph a comparison of two becomes a condition that the graph keeps.
#pragma once
#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <array>
#include <optional>

namespace gn_torch {

using MaybeTensor = std::optional<at::Tensor>;
constexpr int64_t kMostAxes = 8;  // of a tensor of the host API

// All throw c10::ValueError, ValueError in Python.
// Unless x is float32, float16 or bfloat16.
void CheckType(const at::Tensor& x);
// Unless the argument is where x is, and of that type and shape. why: where the shape is from.
void CheckLike(const char* name, const at::Tensor& one, const at::Tensor& x, at::ScalarType type,
               c10::SymIntArrayRef shape, const char* why);
// Unless eps is positive and finite as float32.
void CheckEps(double eps);
// Unless x is where this implementation runs: a dispatcher key says less than that when tensors are mixed.
void CheckDevice(const at::Tensor& x, c10::DeviceType type, const char* what);

}  // namespace gn_torch
