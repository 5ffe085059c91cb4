// GroupNorm of the operator package kernels/projects/group_norm in PyTorch, by EXEC_NPU_CMD: NOT COMPILED WITH CANN AND NOT RUN HERE.
//
// Only its syntax was checked, with a stand-in of the macro. EXEC_NPU_CMD is a macro of a header that the public samples for torch_npu
// bring, pytorch_npu_helper.hpp. It finds aclnnGnTutorialGroupNorm and its first call in the installed package, makes the descriptors of
// the arguments, asks for the workspace, and puts the second call into torch_npu's queue. So this needs no host API of ours; it needs the
// package, installed.
#include <torch/library.h>

#include "pytorch_npu_helper.hpp"

namespace {

std::tuple<at::Tensor, at::Tensor, at::Tensor> GroupNorm(const at::Tensor& x, const at::Tensor& weight,
                                                         const at::Tensor& bias, int64_t num_groups, double eps) {
  at::Tensor y = at::empty_like(x);
  at::Tensor mean = at::empty({x.size(0), num_groups}, x.options().dtype(at::kFloat));
  at::Tensor rstd = at::empty_like(mean);
  EXEC_NPU_CMD(aclnnGnTutorialGroupNorm, x, weight, bias, num_groups, eps, y, mean,
               rstd);  // inputs, attributes, outputs
  return {y, mean, rstd};
}

}  // namespace

// The dispatcher then knows it as any other operator: the rest, Meta, Autograd and so on, is as in group_norm.cpp beside this folder.
TORCH_LIBRARY_FRAGMENT(gn_tutorial_package, m) {
  m.def("group_norm(Tensor x, Tensor weight, Tensor bias, int num_groups, float eps) -> (Tensor, Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(gn_tutorial_package, PrivateUse1, m) { m.impl("group_norm", &GroupNorm); }
