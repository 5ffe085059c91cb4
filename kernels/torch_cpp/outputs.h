// Memory for results, in the layout that PyTorch's own operators choose: channels last if x is. Nothing is written to it yet.
#pragma once
#include <ATen/ops/empty.h>

#include <tuple>

#include "checks.h"

namespace gn_torch {

using Three = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

inline at::Tensor EmptyLike(const at::Tensor& x) {
  return at::empty_symint(x.sym_sizes(), x.options(), x.suggest_memory_format());
}

// y, as x; mean and rstd, float32 of shape (N, num_groups).
inline Three ForwardOutputs(const at::Tensor& x, int64_t num_groups) {
  const c10::SymInt shape[] = {x.sym_size(0), num_groups};
  const auto statistics = x.options().dtype(at::kFloat);
  return {EmptyLike(x), at::empty_symint(shape, statistics), at::empty_symint(shape, statistics)};
}

// The gradients of x, weight and bias; an undefined tensor, None in Python, for one that is not wanted.
inline Three BackwardOutputs(const at::Tensor& x, std::array<bool, 3> mask) {
  const c10::SymInt shape[] = {x.sym_size(1)};
  const auto channels = [&](bool wanted) { return wanted ? at::empty_symint(shape, x.options()) : at::Tensor(); };
  return {mask[0] ? EmptyLike(x) : at::Tensor(), channels(mask[1]), channels(mask[2])};
}

inline at::Tensor LinearOutput(const at::Tensor& x, const at::Tensor& weight) {
  return at::empty_symint(LinearShape(x, weight), x.options());
}

// As BackwardOutputs, for Linear; contiguous.
inline Three LinearBackwardOutputs(const at::Tensor& x, const at::Tensor& weight, std::array<bool, 3> mask) {
  const auto made = [&](bool wanted, c10::SymIntArrayRef shape) {
    return wanted ? at::empty_symint(shape, x.options()) : at::Tensor();
  };
  return {made(mask[0], x.sym_sizes()), made(mask[1], weight.sym_sizes()), made(mask[2], {weight.sym_size(0)})};
}

}  // namespace gn_torch
