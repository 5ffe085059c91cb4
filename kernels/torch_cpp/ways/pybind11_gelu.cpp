// GELU, in its tanh form, as a function of a Python module, by pybind11: the smallest that works on the CPU.
//
// A function is all that it is. PyTorch's dispatcher does not know it: no gradient, no torch.compile, no device but the one that it was
// written for, and what it does not check itself nobody checks.
#include <torch/csrc/utils/pybind.h>

#include "checks.h"
#include "gn_gelu.h"
#include "places.h"

namespace {

at::Tensor GeluOf(const at::Tensor& x) {
  gn_torch::CheckType(x);
  gn_torch::CheckDevice(x, c10::DeviceType::CPU, "the CPU");
  at::Tensor y = gn_torch::EmptyLike(x);
  gn_torch::Cpu::Launch("gelu", [&](const gn_torch::Host& host) {
    static const gn_torch::Calls<decltype(&::GeluGetWorkspaceSize)> calls(host, "Gelu");
    return calls.Plan(x, gn_torch::Described(host, x), gn_torch::Described(host, y));
  });
  return y;
}

}  // namespace

PYBIND11_MODULE(gn_pybind11_gelu, m) { m.def("gelu", &GeluOf, pybind11::arg("x")); }
