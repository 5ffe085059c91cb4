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

}  // namespace gn_torch
