#include "checks.h"

namespace gn_torch {
namespace {

constexpr int64_t kLeastAxes = 2, kMostAxes = 8;
constexpr double kLeastEps = 0x1p-149, kLargestEps = 3.0e38;  // as float32, smaller ones are 0 and larger ones infinite

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

void CheckType(const at::Tensor& x) {
  TORCH_CHECK_VALUE(x.scalar_type() == at::kFloat || x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16,
                    "x is ", Name(x.scalar_type()), "; it must be float32, float16 or bfloat16");
}

void CheckData(const at::Tensor& x, int64_t num_groups) {
  CheckType(x);
  TORCH_CHECK_VALUE(x.dim() >= kLeastAxes && x.dim() <= kMostAxes, "x has ", x.dim(), " axes; it needs ", kLeastAxes,
                    " to ", kMostAxes, ": (N, C, ...)");
  const c10::SymInt channels = x.sym_size(1);
  TORCH_CHECK_VALUE(num_groups > 0 && channels > 0 && channels % num_groups == 0, "x has ", channels,
                    " channels, which cannot be divided into num_groups = ", num_groups);
  if (x.sym_size(0) == 0) return;
  for (int64_t axis = 2; axis < x.dim(); ++axis)
    TORCH_CHECK_VALUE(x.sym_size(axis) != 0, "x has shape ", x.sym_sizes(), ": a group without elements has no mean");
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

void CheckChannels(const char* name, const MaybeTensor& one, const at::Tensor& x) {
  if (one.has_value()) CheckLike(name, *one, x, x.scalar_type(), {x.sym_size(1)}, "one number for each channel");
}

}  // namespace

void CheckForward(const at::Tensor& x, const MaybeTensor& weight, const MaybeTensor& bias, int64_t num_groups,
                  double eps) {
  CheckData(x, num_groups);
  CheckChannels("weight", weight, x);
  CheckChannels("bias", bias, x);
  TORCH_CHECK_VALUE(eps >= kLeastEps && eps <= kLargestEps, "eps is ", eps,
                    "; it must be positive and finite as float32");
}

void CheckBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& mean, const at::Tensor& rstd,
                   const MaybeTensor& weight, int64_t num_groups, std::array<bool, 3> output_mask) {
  CheckData(x, num_groups);
  CheckLike("grad_y", grad_y, x, x.scalar_type(), x.sym_sizes(), "the shape of x");
  const c10::SymInt statistics[] = {x.sym_size(0), num_groups};
  CheckLike("mean", mean, x, at::kFloat, statistics, "(N, num_groups)");
  CheckLike("rstd", rstd, x, at::kFloat, statistics, "(N, num_groups)");
  CheckChannels("weight", weight, x);
  TORCH_CHECK_VALUE(weight.has_value() || !output_mask[1],
                    "output_mask[1] asks for the gradient of weight, and weight is None");
}

void CheckGelu(const at::Tensor& x) {
  CheckType(x);
  TORCH_CHECK_VALUE(x.dim() <= kMostAxes, "x has ", x.dim(), " axes; it may have ", kMostAxes);
}

void CheckGeluBackward(const at::Tensor& grad_y, const at::Tensor& x) {
  CheckGelu(x);
  CheckLike("grad_y", grad_y, x, x.scalar_type(), x.sym_sizes(), "the shape of x");
}

void CheckLinear(const at::Tensor& x, const at::Tensor& weight, const MaybeTensor& bias) {
  CheckType(x);
  TORCH_CHECK_VALUE(x.dim() >= 1 && x.dim() <= kMostAxes, "x has ", x.dim(), " axes; it needs 1 to ", kMostAxes,
                    ": (..., K)");
  TORCH_CHECK_VALUE(weight.dim() == 2, "weight has ", weight.dim(), " axes; it needs 2: (O, K)");
  const c10::SymInt shape[] = {weight.sym_size(0), x.sym_size(-1)};
  CheckLike("weight", weight, x, x.scalar_type(), shape, "a column for each element of x's last axis");
  if (bias.has_value())
    CheckLike("bias", *bias, x, x.scalar_type(), {weight.sym_size(0)}, "one number for each row of weight");
}

void CheckLinearBackward(const at::Tensor& grad_y, const at::Tensor& x, const at::Tensor& weight) {
  CheckLinear(x, weight, std::nullopt);
  CheckLike("grad_y", grad_y, x, x.scalar_type(), LinearShape(x, weight), "the shape of y");
}

c10::SymDimVector LinearShape(const at::Tensor& x, const at::Tensor& weight) {
  c10::SymDimVector shape(x.sym_sizes().begin(), x.sym_sizes().end());
  shape.back() = weight.sym_size(0);
  return shape;
}

void CheckDevice(const at::Tensor& x, c10::DeviceType type, const char* what) {
  TORCH_CHECK_VALUE(x.device().type() == type, "x is on ", x.device(), ", and another argument is on ", what,
                    "; all of them must be on one device");
}

}  // namespace gn_torch
