// First calls of operators that work element by element, such as GELU.
//
// Each element is computed from those at its own place, so the order of elements does not matter, as long as it is one for all tensors.
// It is the order that the first output's memory has: a channels-last tensor with a channels-last output costs no copy.
#pragma once
#include "checks.h"

namespace gn_host {

// A tensor of an operator, and the kernel's name for it; a number that the kernel takes by value.
struct Operand {
  const char* parameter;
  Argument argument;
};
struct ElementsNumber {
  const char* parameter;
  uint32_t value;
};

// Refuses, in the order of docs/host-api.md: null pointers, types, shapes, memory, too many elements. Then plans one launch of `kernel`,
// whose parameters are those of the operands, the number of elements, their type, and `numbers`. The last operands are written: `outputs`
// of them.
Outcome PlanElements(const char* kernel, std::vector<Operand> operands, const std::vector<ElementsNumber>& numbers,
                     Executor* plan, size_t outputs = 1);

}  // namespace gn_host
