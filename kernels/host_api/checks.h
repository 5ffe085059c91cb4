// Checks that operators share. Each refuses one thing, and names the argument, what it is, and what it should be. An argument that was
// not given passes.
#pragma once
#include "executor.h"

namespace gn_host {

// One tensor argument of an operator: its name there, the handle, and, once it was looked up, its description.
struct Argument {
  const char* name;
  const GnTensor* handle;
  std::shared_ptr<Tensor> tensor = nullptr;

  explicit operator bool() const { return tensor != nullptr; }
  const Tensor* operator->() const { return tensor.get(); }
};

using Arguments = std::vector<Argument*>;

// GroupNorm's size, and what follows from it.
struct Sizes {
  int64_t n, c, hxw, groups;
  int64_t elements = 0, statistics = 0;  // N * C * HxW, N * group
};

// Null handles of arguments that must be given.
Outcome NeedAll(const Arguments& arguments);
// The same; then looks up all handles that are not null, and asks for data of the tensors that have elements.
Outcome LookUp(const Arguments& needed, const Arguments& all);
// Which gradients are wanted. A handle that the mask does not ask for becomes null, whatever it is; a null one that it asks for is
// refused.
Outcome ReadMask(const uint8_t* mask, uint64_t size, const Arguments& gradients);
// The mask as a tiling function takes it: 1 for the first gradient, 2 for the second, and so on.
uint32_t WantedBits(const Arguments& gradients);
// float32, float16 or bfloat16.
Outcome CheckSupported(const Argument& argument);
Outcome CheckType(const Arguments& arguments, GnDataType wanted, const char* why);
// Statistics: float32, or all of them of the data's type, as a forward pass and its gradient take them.
Outcome CheckStatistics(const Arguments& statistics, const Argument& data);
Outcome CheckShape(const Arguments& arguments, const std::vector<int64_t>& wanted, const char* why);
Outcome CheckCount(const Arguments& arguments, int64_t wanted, const char* why);
// No negative size, group positive and a divisor of C, no product beyond 64 bits; fills the products in.
Outcome CheckSizes(Sizes* sizes);
// Positive and finite as float32, which is what a kernel gets. name: the argument's.
Outcome CheckEps(const char* name, double eps, const char* hint);
// Which form of GELU: 0 or 1, as aclnnGeluV2 numbers them and the kernels take them.
Outcome CheckGeluForm(int64_t approximate);
// The product of the axes from `first` up to `last`; refused if it does not fit in 64 bits.
Outcome Product(const Argument& argument, size_t first, size_t last, int64_t* product);
// No output shares memory with itself, with another output or with an input.
Outcome CheckOverlaps(const Arguments& inputs, const Arguments& outputs);

}  // namespace gn_host
