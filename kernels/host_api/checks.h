// Checks that operators share. Each refuses one thing, and names the argument, what it is, and what it should be.
#pragma once
#include <initializer_list>

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

// The problem's size, and what follows from it.
struct Sizes {
  int64_t n, c, hxw, groups;
  int64_t elements = 0, statistics = 0;  // N * C * HxW, N * group
};

// Null handles of arguments that must be given.
Outcome NeedAll(std::initializer_list<const Argument*> arguments);
// Looks the handles up that are not null.
Outcome LookUp(std::initializer_list<Argument*> arguments);
// Data of tensors that have elements must not be null, nor too large for this type's addresses.
Outcome NeedData(std::initializer_list<const Argument*> arguments);
// float32, float16 or bfloat16.
Outcome CheckSupported(const Argument& argument);
Outcome CheckType(const Argument& argument, GnDataType wanted, const char* why);
Outcome CheckShape(const Argument& argument, const std::vector<int64_t>& wanted, const char* why);
Outcome CheckCount(const Argument& argument, int64_t wanted, const char* why);
// No negative size, group positive and a divisor of C, no product beyond 64 bits; fills the products in.
Outcome CheckSizes(Sizes* sizes);
// No output shares memory with itself, with another output or with an input.
Outcome CheckOverlaps(std::initializer_list<const Argument*> inputs, std::initializer_list<const Argument*> outputs);

}  // namespace gn_host
