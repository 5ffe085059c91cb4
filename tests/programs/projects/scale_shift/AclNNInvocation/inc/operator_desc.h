// Types and shapes of one operator's arguments.
#pragma once
#include <vector>

#include "acl/acl.h"

struct OperatorDesc {
  ~OperatorDesc();
  void AddInput(aclDataType type, const std::vector<int64_t>& shape);
  void AddOutput(aclDataType type, const std::vector<int64_t>& shape);

  std::vector<aclTensorDesc*> inputs;
  std::vector<aclTensorDesc*> outputs;
};
