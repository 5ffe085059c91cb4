#include "checks.h"

namespace gn_torch {
namespace {

// As Python writes it.
std::string Name(at::ScalarType type) {
  switch (type) {
    case at::kFloat: return "float32";
    case at::kDouble: return "float64";
    case at::kHalf: return "float16";
    case at::kBFloat16: return "bfloat16";
    default: return toString(type);
  }
}

}  // namespace

void CheckType(const at::Tensor& x) {
  TORCH_CHECK_VALUE(x.scalar_type() == at::kFloat || x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16,
                    "x is ", Name(x.scalar_type()), "; it must be float32, float16 or bfloat16");
}

void CheckLike(const char* name, const at::Tensor& one, const at::Tensor& x, at::ScalarType type,
               c10::SymIntArrayRef shape, const char* why) {
  TORCH_CHECK_VALUE(one.device() == x.device(), name, " is on ", one.device(), "; it must be on ", x.device(),
                    ", as x");
  TORCH_CHECK_VALUE(one.scalar_type() == type, name, " is ", Name(one.scalar_type()), "; it must be ", Name(type),
                    type == x.scalar_type() ? ", as x" : ", whatever x is");
  TORCH_CHECK_VALUE(one.sym_sizes().equals(shape), name, " has shape ", one.sym_sizes(), "; it must be ", shape, ", ",
                    why);
}

void CheckEps(double eps) {
  constexpr double kLeast = 0x1p-149, kLargest = 3.0e38;  // as float32, smaller ones are 0 and larger ones infinite
  TORCH_CHECK_VALUE(eps >= kLeast && eps <= kLargest, "eps is ", eps, "; it must be positive and finite as float32");
}

void CheckDevice(const at::Tensor& x, c10::DeviceType type, const char* what) {
  TORCH_CHECK_VALUE(x.device().type() == type, "x is on ", x.device(), ", and another argument is on ", what,
                    "; all of them must be on one device");
}

}  // namespace gn_torch
