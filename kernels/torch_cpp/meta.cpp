// The operators for tensors without data: what a tracer, such as torch.compile, runs to learn shapes, types and layouts.
#include <torch/library.h>

#include "outputs.h"

namespace gn_torch {
namespace {

Three MetaForward(const at::Tensor& x, const MaybeTensor& weight, const MaybeTensor& bias, int64_t num_groups,
                  double eps) {
  CheckForward(x, weight, bias, num_groups, eps);
  // The dispatcher comes here if any argument is on meta: memory for a real x would be given back as it was found.
  CheckDevice(x, at::kMeta, "meta");
  return ForwardOutputs(x, num_groups);
}

Three MetaBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& mean, const at::Tensor& rstd,
                   const MaybeTensor& weight, int64_t num_groups, std::array<bool, 3> output_mask) {
  CheckBackward(grad_y, x, mean, rstd, weight, num_groups, output_mask);
  CheckDevice(x, at::kMeta, "meta");
  return BackwardOutputs(x, output_mask);
}

}  // namespace
}  // namespace gn_torch

TORCH_LIBRARY_IMPL(gn_tutorial_cpp, Meta, m) {
  m.impl("group_norm", &gn_torch::MetaForward);
  m.impl("group_norm_backward", &gn_torch::MetaBackward);
}
